#include "core/scheduler/queue.h"

#include <algorithm>
#include <functional>

#include "core/base/assert.h"

namespace hostler::scheduler {
namespace {

auto by_arrival(const std::deque<Queue::Item>& items, std::uint64_t arrival) {
  return std::lower_bound(
      items.begin(), items.end(), arrival,
      [](const Queue::Item& item, std::uint64_t wanted) { return item.arrival < wanted; });
}

/// Counts the items of some classes that came before each of some arrivals.
struct Earlier {
  std::vector<std::uint64_t> arrivals;  ///< Sorted; set before the first add().

  /// Searches once for each item or once for each arrival, whichever are fewer.
  void add(const Queue::Class& cls) {
    steps_.resize(arrivals.size() + 1);
    counts_.resize(arrivals.size());
    const auto first = index_after(cls.items.front().arrival);
    if (cls.items.size() < arrivals.size() - first) {
      for (const Queue::Item& item : cls.items)
        if (item.work) ++steps_[index_after(item.arrival)];
      return;
    }
    for (std::size_t i = first; i < arrivals.size(); ++i) {
      const auto items = by_arrival(cls.items, arrivals[i]) - cls.items.begin();
      const auto holes = std::ranges::lower_bound(cls.holes, arrivals[i]) - cls.holes.begin();
      counts_[i] += static_cast<std::uint64_t>(items - holes);
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> sums() const {
    std::vector<std::uint64_t> out(arrivals.size());
    std::uint64_t stepped = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) out[i] = (stepped += steps_[i]) + counts_[i];
    return out;
  }

 private:
  [[nodiscard]] std::size_t index_after(std::uint64_t arrival) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(arrivals, arrival) - arrivals.begin());
  }

  std::vector<std::uint64_t> counts_;
  std::vector<std::uint64_t> steps_;  ///< Items to add from this arrival on.
};

}  // namespace

model::WorkShape Queue::class_shape(const model::WorkShape& shape) {
  model::WorkShape out = shape;
  out.restartable = model::WorkShape{}.restartable;
  out.attempts_max = model::WorkShape{}.attempts_max;
  out.start_failures_max = model::WorkShape{}.start_failures_max;
  return out;
}

std::optional<ClassId> Queue::find(const model::WorkShape& shape, model::WorkKind kind) const {
  const auto found = by_shape_.find({kind, class_shape(shape)});
  if (found == by_shape_.end()) return std::nullopt;
  return found->second;
}

ClassId Queue::intern(const model::WorkShape& shape, model::WorkKind kind) {
  model::WorkShape key = class_shape(shape);
  const auto [found, fresh] =
      by_shape_.try_emplace({kind, key}, static_cast<ClassId>(classes_.size()));
  if (fresh)
    classes_.push_back(
        {.kind = kind, .shape = std::move(key), .count = 0, .items = {}, .holes = {}});
  return found->second;
}

void Queue::push(ClassId cls, const Item& item) {
  Class& c = classes_[cls];
  HOSTLER_ASSERT(item.work.kind == c.kind, "the items of a class are of its kind");
  const bool new_first = c.items.empty() || item.arrival < c.items.front().arrival;
  if (new_first) leave_order(cls);
  if (c.items.empty() || c.items.back().arrival < item.arrival)
    c.items.push_back(item);
  else
    c.items.insert(by_arrival(c.items, item.arrival), item);
  ++c.count;
  ++size_;
  if (new_first) enter_order(cls);
}

Queue::Item Queue::pop(ClassId cls) {
  Class& c = classes_[cls];
  HOSTLER_ASSERT(c.count > 0, "an item is popped from a class that has one");
  leave_order(cls);
  const Item item = c.items.front();
  c.items.pop_front();
  forget_one(c);
  enter_order(cls);
  return item;
}

bool Queue::erase(ClassId cls, std::uint64_t arrival) {
  Class& c = classes_[cls];
  const auto at = c.items.begin() + (by_arrival(c.items, arrival) - c.items.cbegin());
  if (at == c.items.end() || at->arrival != arrival || !at->work) return false;
  leave_order(cls);
  at->work = {};
  c.holes.insert(std::lower_bound(c.holes.begin(), c.holes.end(), arrival), arrival);
  forget_one(c);
  enter_order(cls);
  return true;
}

void Queue::forget_one(Class& c) {
  HOSTLER_ASSERT(c.count > 0 && size_ > 0, "the queue counts the items that it has");
  --c.count;
  --size_;
  while (!c.items.empty() && !c.items.front().work) {
    c.items.pop_front();
    c.holes.pop_front();
  }
  // A class whose last items were cancelled must not keep their holes for ever.
  if (c.holes.size() <= 64 || c.holes.size() <= c.count / 8) return;
  std::erase_if(c.items, [](const Item& item) { return !item.work; });
  c.holes.clear();
}

std::vector<std::uint64_t> Queue::ahead(const std::vector<Place>& places) const {
  std::map<std::int32_t, std::vector<std::size_t>, std::greater<>> by_priority;
  for (std::size_t i = 0; i < places.size(); ++i)
    by_priority[classes_[places[i].cls].shape.priority].push_back(i);
  std::vector<std::uint64_t> out(places.size());
  std::uint64_t higher = 0;
  auto next = order_.begin();
  for (auto& [priority, asked] : by_priority) {
    for (; next != order_.end() && next->priority > priority; ++next)
      higher += classes_[next->cls].count;
    std::ranges::sort(asked, {}, [&](std::size_t i) { return places[i].arrival; });
    Earlier earlier;
    for (const std::size_t i : asked) earlier.arrivals.push_back(places[i].arrival);
    std::uint64_t same = 0;
    for (; next != order_.end() && next->priority == priority; ++next) {
      earlier.add(classes_[next->cls]);
      same += classes_[next->cls].count;
    }
    const auto counts = earlier.sums();
    for (std::size_t k = 0; k < asked.size(); ++k) out[asked[k]] = higher + counts[k];
    higher += same;
  }
  return out;
}

void Queue::leave_order(ClassId cls) {
  const Class& c = classes_[cls];
  if (c.count > 0) order_.erase({c.shape.priority, c.items.front().arrival, cls});
}

void Queue::enter_order(ClassId cls) {
  const Class& c = classes_[cls];
  if (c.count > 0) order_.insert({c.shape.priority, c.items.front().arrival, cls});
}

}  // namespace hostler::scheduler

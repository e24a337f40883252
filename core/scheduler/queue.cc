#include "core/scheduler/queue.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/assert.h"
#include "core/scheduler/shares.h"

namespace hostler::scheduler {
namespace {

/// How many classes and principals next() tries one by one before it looks at all classes.
constexpr int kPatience = 64;
/// So many fronts are compared rather than walked through by principal.
constexpr std::size_t kFewFronts = 256;
constexpr ClassId kLastClass = std::numeric_limits<ClassId>::max();

template <class Items>
auto by_arrival(Items& items, std::size_t first, std::uint64_t arrival) {
  return std::lower_bound(
      items.begin() + static_cast<std::ptrdiff_t>(first), items.end(), arrival,
      [](const Queue::Item& item, std::uint64_t wanted) { return item.arrival < wanted; });
}

}  // namespace

// ---- the items of one principal in one class
// -----------------------------------------------------

std::size_t Queue::Lane::count_before(std::uint64_t arrival) const {
  const auto at = by_arrival(items_, first_, arrival) - items_.begin();
  const auto holes = std::ranges::lower_bound(holes_, arrival) - holes_.begin();
  return static_cast<std::size_t>(at - holes) - first_;
}

std::uint64_t Queue::Lane::arrival_after(std::uint64_t arrival) const {
  auto at = by_arrival(items_, first_, arrival + 1);
  while (at != items_.end() && !at->work) ++at;
  HOSTLER_ASSERT(at != items_.end(), "an item follows");
  return at->arrival;
}

void Queue::Lane::push(const Item& item) {
  if (items_.empty() || items_.back().arrival < item.arrival)
    items_.push_back(item);
  else
    items_.insert(by_arrival(items_, first_, item.arrival), item);
}

void Queue::Lane::pop() {
  ++first_;
  tidy();
}

bool Queue::Lane::erase(std::uint64_t arrival) {
  const auto at = by_arrival(items_, first_, arrival);
  if (at == items_.end() || at->arrival != arrival || !at->work) return false;
  at->work = {};
  holes_.insert(std::lower_bound(holes_.begin(), holes_.end(), arrival), arrival);
  tidy();
  return true;
}

void Queue::Lane::tidy() {
  std::ptrdiff_t passed = 0;
  for (; first_ < items_.size() && !items_[first_].work; ++first_) ++passed;
  if (passed > 0) holes_.erase(holes_.begin(), holes_.begin() + passed);
  // A lane whose last items were cancelled must not keep their holes for ever.
  if (holes_.size() > 64 && holes_.size() > count() / 8) {
    std::erase_if(items_, [&, i = std::size_t{0}](const Item& item) mutable {
      return i++ < first_ || !item.work;
    });
    holes_.clear();
    first_ = 0;
  } else if (first_ > 64 && first_ > items_.size() / 2) {
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

// ---- the queue
// -----------------------------------------------------------------------------------

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
  if (fresh) {
    const model::Micros least{kLeastPricePerVcpu.value * std::max(1, key.needs.vcpus)};
    classes_.push_back({.kind = kind, .shape = std::move(key), .price_per_hour = least});
  }
  return found->second;
}

void Queue::ensure(PrincipalId principal) {
  if (principal < waiting_.size()) return;
  waiting_.resize(principal + 1);
  keys_.resize(std::max<std::size_t>(keys_.size(), principal + 1));
}

void Queue::set_key(PrincipalId principal, double key) {
  ensure(principal);
  const double before = std::exchange(keys_[principal], key);
  if (before == key || waiting_[principal].count == 0) return;
  auto node = turns_.extract({before, principal});
  node.value().first = key;
  turns_.insert(std::move(node));
}

void Queue::push(ClassId cls, const Item& item, PrincipalId principal) {
  Class& c = classes_[cls];
  HOSTLER_ASSERT(item.work.kind == c.kind, "the items of a class are of its kind");
  ensure(principal);
  Waiting& owner = waiting_[principal];
  const auto [at, fresh] = owner.lanes.try_emplace(cls);
  auto& [lane, front] = at->second;
  const std::int32_t priority = c.shape.priority;
  if (fresh) {
    front = c.fronts.size();
    c.fronts.push_back({principal, item.arrival, &lane});
    owner.order.insert({priority, item.arrival, cls});
  } else if (item.arrival < lane.first().arrival) {
    owner.order.erase({priority, lane.first().arrival, cls});
    owner.order.insert({priority, item.arrival, cls});
    c.fronts[front].arrival = item.arrival;
  }
  lane.push(item);
  if (c.count++ == 0) order_.insert({priority, cls});
  if (owner.count++ == 0) turns_.emplace(keys_[principal], principal);
  ++size_;
}

std::size_t Queue::next_front(ClassId cls) const {
  const auto& fronts = classes_[cls].fronts;
  HOSTLER_ASSERT(!fronts.empty(), "the class has an item");
  std::size_t best = 0;
  for (std::size_t i = 1; i < fronts.size(); ++i) {
    const double key = keys_[fronts[i].principal], least = keys_[fronts[best].principal];
    if (key < least || (key == least && fronts[i].arrival < fronts[best].arrival)) best = i;
  }
  return best;
}

Queue::Item Queue::pop(ClassId cls) {
  HOSTLER_ASSERT(classes_[cls].count > 0, "an item is popped from a class that has one");
  const PrincipalId principal = classes_[cls].fronts[next_front(cls)].principal;
  Lane& lane = waiting_[principal].lanes.at(cls).lane;
  const Item item = lane.first();
  lane.pop();
  left(cls, principal, item.arrival);
  return item;
}

bool Queue::erase(ClassId cls, std::uint64_t arrival, PrincipalId principal) {
  if (principal >= waiting_.size()) return false;
  const auto at = waiting_[principal].lanes.find(cls);
  if (at == waiting_[principal].lanes.end()) return false;
  const std::uint64_t first = at->second.lane.first().arrival;
  if (!at->second.lane.erase(arrival)) return false;
  left(cls, principal, first);
  return true;
}

void Queue::left(ClassId cls, PrincipalId principal, std::uint64_t first_before) {
  Class& c = classes_[cls];
  Waiting& owner = waiting_[principal];
  HOSTLER_ASSERT(c.count > 0 && size_ > 0 && owner.count > 0,
                 "the queue counts the items that it has");
  auto& [lane, front] = owner.lanes.at(cls);
  if (lane.count() == 0) {
    owner.order.erase({c.shape.priority, first_before, cls});
    remove_front(c, front, cls);
    owner.lanes.erase(cls);
  } else if (lane.first().arrival != first_before) {
    auto node = owner.order.extract({c.shape.priority, first_before, cls});
    node.value().arrival = c.fronts[front].arrival = lane.first().arrival;
    owner.order.insert(std::move(node));
  }
  if (--c.count == 0) order_.erase({c.shape.priority, cls});
  if (--owner.count == 0) turns_.erase({keys_[principal], principal});
  --size_;
}

void Queue::remove_front(Class& c, std::size_t front, ClassId cls) {
  c.fronts[front] = c.fronts.back();
  c.fronts.pop_back();
  if (front < c.fronts.size()) waiting_[c.fronts[front].principal].lanes.at(cls).front = front;
}

// ---- whose turn is next
// --------------------------------------------------------------------------

std::optional<ClassId> Queue::next(const std::function<bool(const Class&)>& fits) const {
  if (turns_.size() == 1) {
    for (const LaneOrder& lane : waiting_[turns_.begin()->second].order)
      if (fits(classes_[lane.cls])) return lane.cls;
    return std::nullopt;
  }
  int patience = kPatience;
  for (auto from = order_.begin(); from != order_.end();) {
    const std::int32_t priority = from->priority;
    const auto to = order_.upper_bound({priority, kLastClass});
    auto found = next_of_few(priority, fits, patience);
    if (!found && patience <= 0) found = next_of_all(from, to, fits);
    if (found) return found;
    from = to;
  }
  return std::nullopt;
}

/// Tries lanes in the order of turns. If it finds none and `patience` is used up, there may be one.
std::optional<ClassId> Queue::next_of_few(std::int32_t priority,
                                          const std::function<bool(const Class&)>& fits,
                                          int& patience) const {
  std::optional<ClassId> best;
  std::uint64_t earliest = 0;
  double key = 0;
  for (const auto& [its_key, principal] : turns_) {
    if (best && its_key > key) return best;
    key = its_key;
    const auto& lanes = waiting_[principal].order;
    if (--patience <= 0) return std::nullopt;
    for (auto lane = lanes.lower_bound({priority, 0, 0});
         lane != lanes.end() && lane->priority == priority; ++lane) {
      if (best && lane->arrival > earliest) break;
      if (--patience <= 0) return std::nullopt;
      if (!fits(classes_[lane->cls])) continue;
      best = lane->cls;
      earliest = lane->arrival;
      break;
    }
  }
  return best;
}

/// Looks at each class once, whatever the number of principals.
std::optional<ClassId> Queue::next_of_all(std::set<Order>::const_iterator from,
                                          std::set<Order>::const_iterator to,
                                          const std::function<bool(const Class&)>& fits) const {
  std::vector<ClassId> fitting;  // sorted
  std::size_t fronts = 0;
  for (auto at = from; at != to; ++at) {
    if (!fits(classes_[at->cls])) continue;
    fitting.push_back(at->cls);
    fronts += classes_[at->cls].fronts.size();
  }
  if (fitting.empty()) return std::nullopt;
  if (fitting.size() == 1 || fronts <= kFewFronts) {
    const auto turn = [&](ClassId cls) {
      const Front& front = classes_[cls].fronts[next_front(cls)];
      return std::pair(keys_[front.principal], front.arrival);
    };
    return *std::ranges::min_element(fitting, {}, turn);
  }
  std::optional<ClassId> best;
  std::uint64_t earliest = 0;
  double key = 0;
  for (const auto& [its_key, principal] : turns_) {
    if (best && its_key > key) break;
    key = its_key;
    for (const auto& [cls, own] : waiting_[principal].lanes) {
      const std::uint64_t arrival = own.lane.first().arrival;
      if ((best && arrival > earliest) || !std::ranges::binary_search(fitting, cls)) continue;
      best = cls;
      earliest = arrival;
    }
  }
  return best;
}

// ---- how many go first
// ---------------------------------------------------------------------------

namespace {

/// Counts the items of some lanes that came before each of some arrivals.
struct Earlier {
  std::vector<std::uint64_t> arrivals;  ///< Sorted; set before the first add().

  /// Searches once for each item or once for each arrival, whichever are fewer.
  void add(const Queue::Lane& lane) {
    steps_.resize(arrivals.size() + 1);
    counts_.resize(arrivals.size());
    const auto first = index_after(lane.first().arrival);
    if (lane.count() < arrivals.size() - first) {
      lane.each([&](const Queue::Item& item) {
        ++steps_[index_after(item.arrival)];
        return true;
      });
      return;
    }
    for (std::size_t i = first; i < arrivals.size(); ++i)
      counts_[i] += lane.count_before(arrivals[i]);
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

/// What a principal has waiting at one priority.
struct Waits {
  double key = 0;
  std::uint64_t count = 0;
  double cost = 0;  ///< Of all these items, as keys count it.

  /// How many of its items get their turns before a key, at about equal costs.
  [[nodiscard]] std::uint64_t before(double turn) const {
    if (key >= turn) return 0;
    if (cost <= 0 || turn - key >= cost) return count;
    return static_cast<std::uint64_t>(std::ceil((turn - key) / cost * static_cast<double>(count)));
  }
};

}  // namespace

std::vector<std::uint64_t> Queue::ahead(const std::vector<Place>& places, double turn_cost) const {
  using Group = std::pair<std::int64_t, PrincipalId>;  // minus priority, principal
  std::map<Group, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < places.size(); ++i)
    groups[{-std::int64_t{classes_[places[i].cls].shape.priority}, places[i].principal}].push_back(
        i);
  std::vector<std::uint64_t> out(places.size());
  std::uint64_t higher = 0, same = 0;
  std::map<PrincipalId, Waits> waits;  // of the priority that `known` says
  std::optional<std::int64_t> known;
  auto next = order_.begin();
  for (auto& [group, asked] : groups) {
    const auto [minus, principal] = group;
    if (known != minus) {
      higher += std::exchange(same, 0);
      waits.clear();
      known = minus;
      for (; next != order_.end() && -std::int64_t{next->priority} <= minus; ++next) {
        const Class& c = classes_[next->cls];
        if (-std::int64_t{next->priority} < minus) {
          higher += c.count;
          continue;
        }
        same += c.count;
        for (const Front& front : c.fronts) {
          Waits& one = waits[front.principal];
          one.key = keys_[front.principal];
          one.count += front.lane->count();
          one.cost += static_cast<double>(front.lane->count()) *
                      static_cast<double>(c.price_per_hour.value) * turn_cost;
        }
      }
    }
    std::ranges::sort(asked, {}, [&](std::size_t i) { return places[i].arrival; });
    Earlier earlier;
    for (const std::size_t i : asked) earlier.arrivals.push_back(places[i].arrival);
    const auto& lanes = waiting_[principal];
    for (auto lane = lanes.order.lower_bound({static_cast<std::int32_t>(-minus), 0, 0});
         lane != lanes.order.end() && lane->priority == -minus; ++lane)
      earlier.add(lanes.lanes.at(lane->cls).lane);
    const auto counts = earlier.sums();
    const Waits& own = waits[principal];
    for (std::size_t k = 0; k < asked.size(); ++k) {
      std::uint64_t before = higher + counts[k];
      const double turn = own.count == 0 ? own.key
                                         : own.key + own.cost * static_cast<double>(counts[k]) /
                                                         static_cast<double>(own.count);
      for (const auto& [other, its] : waits)
        if (other != principal) before += its.before(turn);
      out[asked[k]] = before;
    }
  }
  return out;
}

}  // namespace hostler::scheduler

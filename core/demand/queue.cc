#include "core/demand/queue.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/demand/shares.h"

namespace hostler::demand {
namespace {

/// No part of a host costs less: see price_of_part().
constexpr model::Micros kLeastPrice{1};

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
  const model::WorkShape key = class_shape(shape);
  const auto found = by_shape_.find(ByShape::Key{kind, key});
  if (found == by_shape_.end()) return std::nullopt;
  return found->cls;
}

ClassId Queue::intern(const model::WorkShape& shape, model::WorkKind kind) {
  model::WorkShape key = class_shape(shape);
  auto found = by_shape_.find(ByShape::Key{kind, key});
  if (found == by_shape_.end()) {
    const model::Micros least = std::max(kLeastPrice, least_price_of(key.needs.vcpus));
    const ClassId cls = next_class_++;
    const Class& made =
        classes_.emplace(cls, Class{.kind = kind, .shape = std::move(key), .price_per_hour = least})
            .first->second;
    found = by_shape_.insert({&made, cls}).first;
  }
  Class& c = classes_.at(found->cls);
  if (c.users++ == 0) unused_.erase(c.unused);
  return found->cls;
}

void Queue::release(ClassId cls) {
  const auto found = classes_.find(cls);
  HOSTLER_ASSERT(found != classes_.end() && found->second.users > 0, "a class is released once");
  Class& c = found->second;
  if (--c.users > 0) return;
  HOSTLER_ASSERT(c.count == 0, "nothing waits in a class that nobody uses");
  c.unused = ++last_unused_;
  unused_.emplace(c.unused, cls);
  if (unused_.size() <= kUnusedKept) return;
  const auto gone = classes_.find(unused_.extract(unused_.begin()).mapped());
  by_shape_.erase({&gone->second, gone->first});
  classes_.erase(gone);
}

void Queue::ensure(PrincipalId principal) {
  if (principal < waiting_.size()) return;
  waiting_.resize(principal + 1);
  keys_.resize(std::max<std::size_t>(keys_.size(), principal + 1));
}

void Queue::set_key(PrincipalId principal, double key) {
  ensure(principal);
  const double before = std::exchange(keys_[principal], key);
  if (before == key || !waiting_[principal].takes_turns) return;
  auto node = turns_.extract({before, principal});
  node.value().first = key;
  turns_.insert(std::move(node));
}

void Queue::push(ClassId cls, const Item& item, PrincipalId principal) {
  Class& c = classes_.at(cls);
  HOSTLER_ASSERT(item.work.kind == c.kind, "the items of a class are of its kind");
  ensure(principal);
  Waiting& owner = waiting_[principal];
  const auto [at, fresh] = owner.lanes.try_emplace(cls);
  auto& [lane, front] = at->second;
  const std::int32_t priority = c.shape.priority;
  if (fresh) {
    front = c.fronts.size();
    c.fronts.push_back({principal, item.arrival, &lane});
    owner.order.insert({priority, item.arrival, cls}, c.shape.needs);
  } else if (item.arrival < lane.first().arrival) {
    owner.order.erase({priority, lane.first().arrival, cls});
    owner.order.insert({priority, item.arrival, cls}, c.shape.needs);
    c.fronts[front].arrival = item.arrival;
  }
  lane.push(item);
  if (c.count++ == 0) order_.insert({priority, cls});
  ++owner.count;
  if (!owner.takes_turns &&
      allowances_.cover(principal, model::Amounts::of(c.shape.needs, kLeastPrice)))
    set_takes_turns(principal, true);
  ++size_;
}

void Queue::set_takes_turns(PrincipalId principal, bool takes_turns) {
  if (std::exchange(waiting_[principal].takes_turns, takes_turns) == takes_turns) return;
  if (takes_turns)
    turns_.emplace(keys_[principal], principal);
  else
    turns_.erase({keys_[principal], principal});
}

bool Queue::has_allowed(PrincipalId principal) const {
  const LaneOrder& lanes = waiting_[principal].order;
  if (lanes.empty()) return false;
  return allowance(principal).covers(model::Amounts::of(lanes.least_needs(), kLeastPrice));
}

void Queue::set_allowance(PrincipalId principal, const Allowance& allowance) {
  if (allowances_.set(principal, allowance) && principal < waiting_.size())
    set_takes_turns(principal, has_allowed(principal));
}

std::optional<std::size_t> Queue::next_front(ClassId cls, const model::Amounts& part) const {
  const Class& c = at(cls);
  const model::Amounts held{.price_per_hour = part.price_per_hour,
                            .vcpus = std::max(c.shape.needs.vcpus, part.vcpus),
                            .gpus = std::max<std::int64_t>(c.shape.needs.gpus, part.gpus)};
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < c.fronts.size(); ++i) {
    const Front& front = c.fronts[i];
    if (!allowances_.cover(front.principal, held)) continue;
    const double key = keys_[front.principal];
    if (best && (key > least || (key == least && front.arrival >= c.fronts[*best].arrival)))
      continue;
    best = i;
    least = key;
  }
  return best;
}

Queue::Item Queue::pop(ClassId cls, const model::Amounts& part) {
  const auto front = next_front(cls, part);
  HOSTLER_ASSERT(front, "an item is popped from a class that has one within its allowance");
  const PrincipalId principal = at(cls).fronts[*front].principal;
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
  Class& c = classes_.at(cls);
  Waiting& owner = waiting_[principal];
  HOSTLER_ASSERT(c.count > 0 && size_ > 0 && owner.count > 0,
                 "the queue counts the items that it has");
  auto& [lane, front] = owner.lanes.at(cls);
  const bool was_last = lane.count() == 0;
  if (was_last) {
    owner.order.erase({c.shape.priority, first_before, cls});
    remove_front(c, front, cls);
    owner.lanes.erase(cls);
  } else if (lane.first().arrival != first_before) {
    owner.order.erase({c.shape.priority, first_before, cls});
    c.fronts[front].arrival = lane.first().arrival;
    owner.order.insert({c.shape.priority, lane.first().arrival, cls}, c.shape.needs);
  }
  if (--c.count == 0) order_.erase({c.shape.priority, cls});
  --owner.count;
  if (was_last && owner.takes_turns) set_takes_turns(principal, has_allowed(principal));
  --size_;
}

void Queue::remove_front(Class& c, std::size_t front, ClassId cls) {
  c.fronts[front] = c.fronts.back();
  c.fronts.pop_back();
  if (front < c.fronts.size()) waiting_[c.fronts[front].principal].lanes.at(cls).front = front;
}

}  // namespace hostler::demand

#include "core/scheduler/queue.h"

#include <algorithm>

namespace hostler::scheduler {
namespace {

auto by_arrival(const std::deque<Queue::Item>& items, std::uint64_t arrival) {
  return std::lower_bound(
      items.begin(), items.end(), arrival,
      [](const Queue::Item& item, std::uint64_t wanted) { return item.arrival < wanted; });
}

}  // namespace

ClassId Queue::intern(const model::JobShape& shape) {
  model::JobShape key = shape;
  key.restartable = model::JobShape{}.restartable;
  key.attempts_max = model::JobShape{}.attempts_max;
  const auto [found, fresh] = by_shape_.try_emplace(key, static_cast<ClassId>(classes_.size()));
  if (fresh) classes_.push_back({.shape = std::move(key), .count = 0, .items = {}, .holes = {}});
  return found->second;
}

void Queue::push(ClassId cls, const Item& item) {
  Class& c = classes_[cls];
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
  if (at == c.items.end() || at->arrival != arrival || !at->job) return false;
  leave_order(cls);
  at->job = {};
  c.holes.insert(std::lower_bound(c.holes.begin(), c.holes.end(), arrival), arrival);
  forget_one(c);
  enter_order(cls);
  return true;
}

void Queue::forget_one(Class& c) {
  --c.count;
  --size_;
  while (!c.items.empty() && !c.items.front().job) {
    c.items.pop_front();
    c.holes.pop_front();
  }
  // A class whose tail was cancelled must not hold on to the holes.
  if (c.holes.size() <= 64 || c.holes.size() <= c.count / 8) return;
  std::erase_if(c.items, [](const Item& item) { return !item.job; });
  c.holes.clear();
}

std::uint64_t Queue::before(ClassId cls, std::uint64_t arrival) const {
  const Class& c = classes_[cls];
  const auto holes = std::lower_bound(c.holes.begin(), c.holes.end(), arrival) - c.holes.begin();
  return static_cast<std::uint64_t>(by_arrival(c.items, arrival) - c.items.begin() - holes);
}

std::uint64_t Queue::ahead(ClassId cls, std::uint64_t arrival) const {
  const std::int32_t priority = classes_[cls].shape.priority;
  std::uint64_t sum = 0;
  for (const Order& next : order_) {
    if (next.priority < priority || (next.priority == priority && next.arrival >= arrival)) break;
    sum += next.priority > priority ? classes_[next.cls].count : before(next.cls, arrival);
  }
  return sum;
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

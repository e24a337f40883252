#include "core/plugin_host/call_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/assert.h"

namespace hostler::plugin_host {

CallQueue::CallQueue(std::size_t slots) : slots_(std::max<std::size_t>(slots, 1)) {}

void CallQueue::push(std::shared_ptr<Operation> op) {
  auto& queue = op->traits().urgent ? urgent_ : normal_;
  queue.push_back(std::move(op));
}

bool CallQueue::remove(const Operation& op) {
  auto& queue = op.traits().urgent ? urgent_ : normal_;
  return std::erase_if(queue, [&](const auto& waiting) { return waiting.get() == &op; }) > 0;
}

std::deque<std::shared_ptr<Operation>> CallQueue::remove_all() {
  Queue all = std::exchange(urgent_, {});
  std::move(normal_.begin(), normal_.end(), std::back_inserter(all));
  normal_.clear();
  return all;
}

std::shared_ptr<Operation> CallQueue::next() {
  if (in_driver_ >= slots_) return nullptr;
  if (!urgent_.empty()) return take(urgent_);
  const std::size_t normal_slots = std::max<std::size_t>(slots_ - 1, 1);
  return normal_in_driver_ < normal_slots && !normal_.empty() ? take(normal_) : nullptr;
}

std::shared_ptr<Operation> CallQueue::take(Queue& queue) {
  auto op = std::move(queue.front());
  queue.pop_front();
  ++in_driver_;
  if (!op->traits().urgent) ++normal_in_driver_;
  return op;
}

void CallQueue::leave(const Operation& op) {
  const bool urgent = op.traits().urgent;
  HOSTLER_ASSERT(in_driver_ > 0 && (urgent || normal_in_driver_ > 0),
                 "a call that leaves has a slot");
  --in_driver_;
  if (!urgent) --normal_in_driver_;
}

void CallQueue::lower_slots(std::size_t slots) {
  slots_ = std::clamp<std::size_t>(slots, 1, slots_);
}

void CallQueue::set_slots(std::size_t slots) { slots_ = std::max<std::size_t>(slots, 1); }

}  // namespace hostler::plugin_host

#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "core/plugin_host/operation.h"

namespace hostler::plugin_host {

/// The calls of one set that wait for the driver, and the slots: how many calls may be in the
/// driver at once (R35). A call has a slot from next() to leave(). Where there is more than one
/// slot, one is reserved for urgent calls; where there is only one, urgent calls go first.
///
/// Threads: any, but the object has no lock: its owner guards it.
class CallQueue {
 public:
  /// At least one slot.
  explicit CallQueue(std::size_t slots);

  void push(std::shared_ptr<Operation> op);
  /// Removes a call that waits. False if it does not wait.
  bool remove(const Operation& op);
  /// Removes all calls that wait.
  std::deque<std::shared_ptr<Operation>> remove_all();
  [[nodiscard]] std::size_t size() const { return urgent_.size() + normal_.size(); }

  /// Removes the next call and gives it a slot. Null if no call waits or none has a slot.
  std::shared_ptr<Operation> next();
  /// Gives the call's slot back.
  void leave(const Operation& op);
  /// Lowers the number of slots, to at least one. Calls in the driver keep their slots.
  void lower_slots(std::size_t slots);
  /// Sets the number of slots, to at least one.
  void set_slots(std::size_t slots);
  [[nodiscard]] std::size_t slots() const { return slots_; }

 private:
  using Queue = std::deque<std::shared_ptr<Operation>>;

  std::shared_ptr<Operation> take(Queue& queue);

  Queue urgent_, normal_;
  std::size_t slots_;
  std::size_t in_driver_ = 0;
  std::size_t normal_in_driver_ = 0;
};

}  // namespace hostler::plugin_host

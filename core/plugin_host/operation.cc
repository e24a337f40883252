#include "core/plugin_host/operation.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/text.h"
#include "core/plugin_host/abi_values.h"

namespace hostler::plugin_host {

Operation::Operation(const Traits& traits, const std::string& driver, Owner& owner)
    : hostler_op{}, traits_(traits), driver_(driver), owner_(owner) {
  error_.struct_size = sizeof(hostler_error);
  error_.retry_after_ms = error_.quota_limit = error_.quota_used = -1;
  error_.set_text = &Operation::driver_sets_text;
  error_.op = this;
  hostler_op& op = *this;
  op.struct_size = sizeof(hostler_op);
  op.error = &error_;
  op.is_cancelled = &Operation::driver_asks_cancelled;
  op.on_cancel = &Operation::driver_registers_cancel;
  op.emit = &Operation::driver_emits;
  op.complete = &Operation::driver_completes;
}

void Operation::set_deadline(SteadyTime deadline) {
  deadline_ = deadline;
  deadline_mono_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count());
}

// ---- what the driver calls ---------------------------------------------------------------------

void Operation::driver_sets_text(hostler_error* e, std::uint32_t field, const char* s,
                                 std::size_t n) {
  auto& block = static_cast<ErrorBlock&>(*e);
  if (block.op->completed_) {
    block.op->broke("R26: an error text set after the end");
  } else if (field > 0 && field < block.texts.size() && s != nullptr) {
    block.texts[field] = printable({s, std::min(n, kErrorTextMax)}, kErrorTextMax);
  }
}

std::int32_t Operation::driver_asks_cancelled(const hostler_op* op) {
  return static_cast<const Operation*>(op)->cancelled_ ? 1 : 0;
}

void Operation::driver_registers_cancel(hostler_op* op, void (*fn)(void*), void* arg) {
  auto& self = static_cast<Operation&>(*op);
  MutexLock lock(self.mutex_);
  self.wait_for_cancel_function();
  self.cancel_function_ = nullptr;
  if (self.completed_ && !self.abandoned_) {
    lock.unlock();
    self.broke("R26: on_cancel() called after the end");
  } else if (fn != nullptr && self.cancelled_) {
    lock.unlock();
    fn(arg);
  } else {
    self.cancel_function_ = fn;
    self.cancel_argument_ = arg;
  }
}

std::int32_t Operation::driver_emits(hostler_op* op, const hostler_rec* record) {
  auto& self = static_cast<Operation&>(*op);
  if (self.emitting_.exchange(true)) {  // not the lock: the host takes that too, to end the call
    self.broke("R27: two records emitted at once");
    return 1;
  }
  std::string rule;
  const bool goes_on = self.accept(record, rule);
  self.emitting_ = false;
  if (!rule.empty()) self.broke(std::move(rule));  // last: after its end nothing holds the call
  return goes_on ? 0 : 1;
}

bool Operation::accept(const hostler_rec* record, std::string& rule) {
  const MutexLock taking(records_mutex_);
  if (completed_) {
    rule = "R26: a record emitted after the end";
  } else if (over_) {
    // given up on, which the driver need not know
  } else if (record == nullptr || record->struct_size < sizeof(hostler_rec)) {
    rule = "R15: a record without a size";
  } else if (records_ == kRecordsMax) {
    rule = "limit: more than " + std::to_string(kRecordsMax) + " records";
  } else {
    ++records_;
    if (take(*record) && !cancelled_) return true;
    stopped_ = true;  // taken all the same: an id that is known is not lost
  }
  return false;
}

void Operation::driver_completes(hostler_op* op, hostler_status status) {
  auto& self = static_cast<Operation&>(*op);
  MutexLock lock(self.mutex_);
  self.wait_for_cancel_function();
  if (self.completed_) {
    lock.unlock();
    return self.broke("R26: complete() called after the end");
  }
  self.completed_ = true;
  self.status_ = status;
  self.cancel_function_ = nullptr;
  if (self.in_function_) return;  // run() goes on from here
  const bool late = self.abandoned_;
  lock.unlock();
  if (late) {
    self.owner_.came_back(self);
  } else {
    self.finish();
  }
}

// ---- what the host calls -----------------------------------------------------------------------

/// An exception would end the daemon, and with it every other set's driver.
hostler_status Operation::call_guarded() {
  try {
    return call();
  } catch (...) {  // NOLINT(bugprone-empty-catch): what it is only the driver knows
    broke("R45: an exception left the function");
    return HOSTLER_E_INTERNAL;
  }
}

void Operation::run() {
  {
    MutexLock lock(mutex_);
    if (over_) {
      const bool awaited = abandoned_;
      lock.unlock();
      if (awaited) owner_.came_back(*this);
      return;
    }
    in_function_ = true;
  }
  const hostler_status returned = call_guarded();
  MutexLock lock(mutex_);
  if (completed_) {
    if (returned != HOSTLER_PENDING && broken_.empty()) {
      broken_ = "R26: returned " + status_name(returned) + " after complete()";
    }
  } else if (returned == HOSTLER_PENDING && traits_.may_pend) {
    in_function_ = false;
    return;
  } else {
    if (cancel_function_ != nullptr || cancel_running_) {
      cancel_function_ = nullptr;
      wait_for_cancel_function();
      if (broken_.empty()) broken_ = "R29: returned without removing its cancel function";
    }
    completed_ = true;
    status_ = returned;
  }
  in_function_ = false;
  const bool late = abandoned_;
  lock.unlock();
  if (late) {
    owner_.came_back(*this);
  } else {
    finish();
  }
}

bool Operation::in_function() {
  const MutexLock lock(mutex_);
  return in_function_;
}

void Operation::cancel(bool time_is_up) {
  const MutexLock lock(mutex_);
  if (over_ || cancelled_) return;
  cancelled_ = true;
  time_is_up_ = time_is_up;
  if (cancel_function_ == nullptr) return;
  cancel_running_ = true;
  try {
    std::thread([self = shared_from_this()] { self->run_cancel_function(); }).detach();
  } catch (const std::system_error&) {  // no thread to be had: is_cancelled() still tells
    cancel_running_ = false;
  }
}

void Operation::run_cancel_function() {
  const MutexLock lock(mutex_);
  cancel_thread_ = std::this_thread::get_id();
  const auto fn = std::exchange(cancel_function_, nullptr);
  void* const arg = cancel_argument_;
  {
    const MutexUnlock unlocked(mutex_);
    if (fn != nullptr) fn(arg);
  }
  cancel_running_ = false;
  cancel_thread_ = {};
  changed_.notify_all();
}

/// Not if this is the thread it runs on: then it is the function itself that asks.
void Operation::wait_for_cancel_function() {
  changed_.wait(mutex_, [this]() HOSTLER_REQUIRES(mutex_) {
    return !cancel_running_ || cancel_thread_ == std::this_thread::get_id();
  });
}

bool Operation::end_from_host() {
  if (over_) return false;
  over_ = true;
  return true;
}

bool Operation::refuse(model::CloudError why) {
  const MutexLock records_lock(records_mutex_);
  const MutexLock lock(mutex_);
  if (!end_from_host()) return false;
  refusal_ = std::move(why);
  return true;
}

bool Operation::abandon(std::string_view why) {
  const MutexLock records_lock(records_mutex_);
  const MutexLock lock(mutex_);
  if (!end_from_host()) return false;
  abandoned_ = true;
  refusal_ = cloud_error(model::CloudErrorClass::kTimeout, std::string(why), traits_.has_effect);
  return true;
}

void Operation::finish() {
  {
    const MutexLock records_lock(records_mutex_);
    const MutexLock lock(mutex_);
    if (!end_from_host()) return;
  }
  owner_.ended(*this);
}

void Operation::broke(std::string rule) {
  if (!over_) {
    const MutexLock lock(mutex_);
    if (!over_) {
      if (broken_.empty()) broken_ = std::move(rule);
      return;
    }
  }
  owner_.broken_rule(*this, rule);
}

// ---- the result --------------------------------------------------------------------------------

void Operation::settle() {
  auto failed = failure();
  if (failed) {
    failed->message = "driver '" + driver_ + "': " + traits_.name + ": " + failed->message;
    if (effect_seen_) failed->outcome_unknown = true;
  }
  deliver(std::move(failed));
}

std::optional<model::CloudError> Operation::failure() {
  if (refusal_) return std::move(refusal_);
  if (broken_.empty() && status_ == HOSTLER_OK && !cut_short()) broken_ = missing();
  if (broken_.empty() && status_ > HOSTLER_OK) {
    broken_ = "R26: ended with " + status_name(status_);
  }
  if (!broken_.empty()) {
    owner_.broken_rule(*this, broken_);
    return cloud_error(model::CloudErrorClass::kMisbehaving, broken_, traits_.has_effect);
  }
  if (status_ < 0) return reported();
  if (!cut_short()) return std::nullopt;
  return cloud_error(
      time_is_up_ ? model::CloudErrorClass::kTimeout : model::CloudErrorClass::kCancelled,
      "cancelled before it was complete", traits_.has_effect);
}

model::CloudError Operation::reported() {
  auto said = read_error(error_, status_, {error_.texts.data(), error_.texts.size()});
  if (said.message.empty()) {
    said.message = "R22: " + status_name(status_) + " without a message";
    owner_.broken_rule(*this, said.message);
  }
  if (said.cls == model::CloudErrorClass::kCancelled && time_is_up_) {
    said.cls = model::CloudErrorClass::kTimeout;
    said.message += " (its time was up)";
  }
  return said;
}

}  // namespace hostler::plugin_host

#include "core/plugin_host/operation.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/text.h"
#include "core/plugin_host/abi_values.h"

namespace hostler::plugin_host {
namespace {
constexpr std::size_t kErrorTexts = HOSTLER_TEXT_SCOPE_REGION + 1;
}

/// Lets go of the mutex while a record is taken: that may be long, and may break a rule.
class HOSTLER_THREAD_ATTRIBUTE(scoped_lockable) Operation::Taking {
 public:
  explicit Taking(Operation& op) HOSTLER_RELEASE(op.mutex_) : op_(op) {
    op_.taking_ = true;
    op_.mutex_.unlock();
  }
  ~Taking() HOSTLER_RELEASE() {  // clang: of the scope, not of the mutex
    op_.mutex_.lock();
    op_.taking_ = false;
    op_.changed_.notify_all();
  }
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;

 private:
  Operation& op_;
};

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
  auto& self = *static_cast<ErrorBlock&>(*e).op;
  MutexLock lock(self.mutex_);
  if (self.completed_) {
    lock.unlock();
    self.broke("R26: an error text set after the end");
  } else if (field > 0 && field < kErrorTexts && s != nullptr) {
    self.texts_.resize(kErrorTexts);
    self.texts_[field] = printable({s, std::min(n, kErrorTextMax)}, kErrorTextMax);
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
  std::string rule;
  const bool goes_on = self.accept(record, rule);
  if (!rule.empty()) self.broke(std::move(rule));  // last: after its end nothing holds the call
  return goes_on ? 0 : 1;
}

bool Operation::accept(const hostler_rec* record, std::string& rule) {
  const MutexLock lock(mutex_);
  if (completed_) {
    rule = "R26: a record emitted after the end";
  } else if (taking_) {
    rule = "R27: two records emitted at once";
  } else if (over_) {
    // given up on, which the driver need not know
  } else if (record == nullptr || record->struct_size < sizeof(hostler_rec)) {
    rule = "R15: a record without a size";
  } else if (records_ == kRecordsMax) {
    rule = "limit: more than " + std::to_string(kRecordsMax) + " records";
  } else {
    ++records_;
    bool wanted = false;
    {
      const Taking taking(*this);
      wanted = take(*record);
    }
    if (wanted && !cancelled_) return true;
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
  const bool late = self.end_from_driver();
  lock.unlock();
  self.tell_owner(late);
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
  const bool late = end_from_driver();
  lock.unlock();
  tell_owner(late);
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

/// Not for long: no other begins once the call has ended for the driver or for the host.
void Operation::wait_for_record() {
  changed_.wait(mutex_, [this]() HOSTLER_REQUIRES(mutex_) { return !taking_; });
}

bool Operation::end_from_host(model::CloudError why, bool abandoned) {
  auto refusal = std::make_unique<model::CloudError>(std::move(why));
  const MutexLock lock(mutex_);
  if (over_) return false;
  over_ = true;
  abandoned_ = abandoned;
  refusal_ = std::move(refusal);
  wait_for_record();
  return true;
}

bool Operation::refuse(model::CloudError why) { return end_from_host(std::move(why), false); }

bool Operation::abandon(std::string_view why) {
  return end_from_host(
      cloud_error(model::CloudErrorClass::kTimeout, std::string(why), traits_.has_effect), true);
}

/// \return whether the host had given up on it before.
bool Operation::end_from_driver() {
  wait_for_record();
  over_ = true;
  return abandoned_;
}

void Operation::tell_owner(bool late) {
  if (late) {
    owner_.came_back(*this);
  } else {
    owner_.ended(*this);
  }
}

void Operation::broke(std::string rule) {
  {
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
  if (refusal_) return std::move(*refusal_);
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
  texts_.resize(kErrorTexts);
  auto said = read_error(error_, status_, texts_);
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

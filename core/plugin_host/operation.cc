#include "core/plugin_host/operation.h"

#include <utility>

#include "core/base/assert.h"
#include "core/plugin_host/abi_values.h"
#include "core/plugin_host/host_table.h"
#include "core/plugin_host/live_operations.h"

namespace hostler::plugin_host {

Operation::Operation(const Traits& traits, const std::string& driver, Listener& listener)
    : hostler_op{},
      traits_(traits),
      driver_(driver),
      listener_(listener),
      log_area_(listener.log_area()) {
  error_.struct_size = sizeof(hostler_error);
  error_.retry_after_ms = error_.quota_limit = error_.quota_used = -1;
  error_.set_text = &Operation::driver_sets_text;
  hostler_op& op = *this;
  op.struct_size = sizeof(hostler_op);
  op.error = &error_;
  op.is_cancelled = &Operation::driver_asks_cancelled;
  op.on_cancel = &Operation::driver_registers_cancel;
  op.emit = &Operation::driver_emits;
  op.complete = &Operation::driver_completes;
}

Operation::~Operation() {
  LiveOperations::get().remove(static_cast<hostler_op*>(this));
  LiveOperations::get().remove(&error_);
}

void Operation::set_deadline(SteadyTime deadline) {
  deadline_ = deadline;
  // steady_clock reads CLOCK_MONOTONIC.
  deadline_mono_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count());
}

// ---- the driver's callbacks --------------------------------------------------------------------

std::shared_ptr<Operation> Operation::live(const void* address, const char* function) {
  auto found = LiveOperations::get().find(address);
  if (found == nullptr)
    log_misuse(std::string("R26: ") + function + " of a call that is long over");
  return found;
}

void Operation::driver_sets_text(hostler_error* e, std::uint32_t field, const char* s,
                                 std::size_t n) {
  if (const auto self = live(e, "set_text()")) self->report_text(field, s, n);
}

void Operation::report_text(std::uint32_t field, const char* s, std::size_t n) {
  MutexLock lock(mutex_);
  if (!progress_.completed) return outcome_.set_text(field, s, n);
  lock.unlock();
  report_broken_rule("R26: an error text set after the end");
}

std::int32_t Operation::driver_asks_cancelled(const hostler_op* op) {
  const auto self = live(op, "is_cancelled()");
  return self == nullptr || self->cancelled_ ? 1 : 0;
}

void Operation::driver_registers_cancel(hostler_op* op, void (*fn)(void*), void* arg) {
  if (const auto self = live(op, "on_cancel()")) self->register_cancel(fn, arg);
}

void Operation::register_cancel(void (*fn)(void*), void* arg) {
  MutexLock lock(mutex_);
  cancel_function_.wait(mutex_);
  cancel_function_.remove();
  if (progress_.completed && !progress_.abandoned) {
    lock.unlock();
    report_broken_rule("R26: on_cancel() called after the end");
  } else if (fn != nullptr && cancelled_) {
    lock.unlock();
    fn(arg);
  } else {
    cancel_function_.set(fn, arg);
  }
}

std::int32_t Operation::driver_emits(hostler_op* op, const hostler_rec* record) {
  const auto self = live(op, "emit()");
  return self != nullptr && self->report_record(record) ? 0 : 1;
}

bool Operation::report_record(const hostler_rec* record) {
  std::string rule;
  const bool goes_on = accept(record, rule);
  if (!rule.empty()) report_broken_rule(std::move(rule));
  return goes_on;
}

/// Whether the driver should emit more records. Sets `rule` if this record breaks one.
bool Operation::accept(const hostler_rec* record, std::string& rule) {
  const MutexLock lock(mutex_);
  if (progress_.completed) {
    rule = "R26: a record emitted after the end";
    return false;
  }
  // The driver cannot know that the host has abandoned the call: it breaks no rule.
  if (progress_.over && !records_.busy()) return false;
  return records_.accept(record, mutex_, rule, [this](const hostler_rec& taken) {
    return take_record(taken) && !cancelled_;
  });
}

void Operation::driver_completes(hostler_op* op, hostler_status status) {
  if (const auto self = live(op, "complete()")) self->report_end(status);
}

void Operation::report_end(hostler_status status) {
  MutexLock lock(mutex_);
  cancel_function_.wait(mutex_);
  if (progress_.completed) {
    lock.unlock();
    return report_broken_rule("R26: complete() called after the end");
  }
  if (is_too_early_for(status))
    outcome_.set_broken_rule("R26: completed with OK before its deadline, without a cancel");
  progress_.completed = true;
  outcome_.set_status(status);
  cancel_function_.remove();
  if (progress_.in_function) return;  // run() ends the call when the function has returned
  const bool was_abandoned = end_by_driver();
  lock.unlock();
  notify(was_abandoned);
}

/// A call that lasts cannot be over because all went well. Its last tenth counts as the end: nobody
/// waits to the nanosecond.
bool Operation::is_too_early_for(hostler_status status) const {
  if (!traits_.must_pend || status != HOSTLER_OK || cancelled_) return false;
  return std::chrono::steady_clock::now() < deadline_ - (deadline_ - began_) / 10;
}

// ---- the call ----------------------------------------------------------------------------------

void Operation::run() {
  {
    MutexLock lock(mutex_);
    if (progress_.over) {
      const bool was_abandoned = progress_.abandoned;
      lock.unlock();
      if (was_abandoned) listener_.on_late_return(*this);
      return;
    }
    progress_.in_function = true;
    began_ = std::chrono::steady_clock::now();
  }
  LiveOperations::get().add(static_cast<hostler_op*>(this), weak_from_this());
  LiveOperations::get().add(&error_, weak_from_this());
  const hostler_status returned = call_guarded();
  MutexLock lock(mutex_);
  const bool pending = returned == HOSTLER_PENDING && traits_.may_pend && !progress_.completed;
  if (!pending) end_of_function(returned);
  progress_.in_function = false;
  if (pending) return;
  const bool was_abandoned = end_by_driver();
  lock.unlock();
  notify(was_abandoned);
}

/// An exception would end the daemon, and with it the drivers of all other sets.
hostler_status Operation::call_guarded() {
  try {
    return call_driver();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the type is known to the driver only
    report_broken_rule("R45: an exception left the function");
    return HOSTLER_E_INTERNAL;
  }
}

/// Notes how the function ended, unless complete() has done so.
void Operation::end_of_function(hostler_status returned) {
  if (progress_.completed) {
    if (returned != HOSTLER_PENDING) {
      outcome_.set_broken_rule("R26: returned " + status_name(returned) + " after complete()");
    }
    return;
  }
  if (cancel_function_.in_use()) {
    cancel_function_.remove();
    cancel_function_.wait(mutex_);
    outcome_.set_broken_rule("R29: returned without removing its cancel function");
  }
  if (traits_.must_pend && returned == HOSTLER_OK)
    outcome_.set_broken_rule("R26: returned OK, it must be PENDING");
  progress_.completed = true;
  outcome_.set_status(returned);
}

bool Operation::in_function() {
  const MutexLock lock(mutex_);
  return progress_.in_function;
}

bool Operation::has_ended() {
  const MutexLock lock(mutex_);
  return progress_.completed && !progress_.in_function;
}

void Operation::cancel(bool time_is_up) {
  const MutexLock lock(mutex_);
  if (progress_.over || cancelled_) return;
  cancelled_ = true;
  time_is_up_ = time_is_up;
  cancel_function_.start(mutex_, shared_from_this());
}

// ---- the end -----------------------------------------------------------------------------------

bool Operation::refuse(model::CloudError reason) { return end_by_host(std::move(reason), false); }

bool Operation::abandon(std::string_view reason) {
  return end_by_host(
      cloud_error(model::CloudErrorClass::kTimeout, std::string(reason), traits_.changes_cloud),
      true);
}

bool Operation::end_by_host(model::CloudError reason, bool abandoned) {
  const MutexLock lock(mutex_);
  if (progress_.over) return false;
  progress_.over = true;
  progress_.abandoned = abandoned;
  outcome_.set_ended_by_host(std::move(reason));
  records_.wait(mutex_);
  return true;
}

/// Waits for a record that is being taken; no other one starts. Returns whether the host had
/// abandoned the call before.
bool Operation::end_by_driver() {
  records_.wait(mutex_);
  if (!progress_.abandoned) progress_.over = true;  // else deliver_result() may be reading it
  return progress_.abandoned;
}

void Operation::notify(bool was_abandoned) {
  if (was_abandoned) {
    listener_.on_late_return(*this);
  } else {
    listener_.on_ended(*this);
  }
}

bool Operation::keeps_rules(std::string rule) {
  if (rule.empty()) return true;
  report_broken_rule(std::move(rule));
  return false;
}

void Operation::report_broken_rule(std::string rule) {
  {
    const MutexLock lock(mutex_);
    // A thread that abandons the call waits for the record that is being taken now, and may hold
    // locks that the listener needs.
    if (!progress_.over || records_.busy()) return outcome_.set_broken_rule(std::move(rule));
  }
  listener_.on_broken_rule(*this, rule);
}

void Operation::set_crash(model::DriverCrash crash) {
  const MutexLock lock(mutex_);
  if (!progress_.over) crash_ = std::make_unique<model::DriverCrash>(std::move(crash));
}

/// Without the mutex: once the call is over, no other function uses what this one reads.
void Operation::deliver_result() {
  HOSTLER_ASSERT(progress_.over, "a result is delivered after the call is over");
  const bool incomplete = records_.stopped() && !effect_seen();
  if (outcome_.is_success() && !incomplete) outcome_.set_broken_rule(rule_broken_by_success());
  auto failure = outcome_.failure(error_, {.changes_cloud = traits_.changes_cloud,
                                           .incomplete = incomplete,
                                           .time_is_up = time_is_up_});
  if (!outcome_.broken_rule().empty()) listener_.on_broken_rule(*this, outcome_.broken_rule());
  if (failure) {
    failure->message = "driver '" + driver_ + "': " + traits_.name + ": " + failure->message;
    if (effect_seen()) failure->outcome_unknown = true;
    if (crash_) failure->crash = std::move(*crash_);
  }
  deliver(std::move(failure));
}

Operation::Ending Operation::ending() const {
  HOSTLER_ASSERT(progress_.over, "a call has an ending after it is over");
  return {.status = outcome_.status(),
          .error = error_,
          .texts = outcome_.texts(),
          .broken_rule = outcome_.broken_rule()};
}

}  // namespace hostler::plugin_host

#include "core/plugin_host/call_runner.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/base/units.h"
#include "core/log/log.h"
#include "core/plugin_host/host_table.h"

namespace hostler::plugin_host {
namespace {

using model::CloudError;
using model::CloudErrorClass;
using std::chrono::steady_clock;

constexpr std::size_t kHungToSuspend = 2;
constexpr std::size_t kRetiredMax = 256;
constexpr std::uint64_t kBrokenRulesLogged = 50;  // health() counts all of them
constexpr Duration kTimeoutMax = std::chrono::hours(24);

}  // namespace

CallRunner::CallRunner(Options options) : options_(std::move(options)), queue_(options_.slots) {}

void CallRunner::start() {
  completion_thread_ = std::thread([this] { run_completions(); });
}

bool CallRunner::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    refuse_queued(cloud_error(CloudErrorClass::kCancelled, "the set is being closed"));
    const auto abandon_at = steady_clock::now() + options_.grace;
    deadlines_.clear();
    for (auto& [op, active] : active_) {
      op->cancel(false);
      active.due = abandon_at;
      deadlines_.emplace(active.due, op);
    }
    completions_.wake();
    worker_wakes_.notify_all();
  }
  completion_thread_.join();
  const MutexLock lock(mutex_);
  worker_left_.wait(mutex_,
                    [this]() HOSTLER_REQUIRES(mutex_) { return workers_ == hung_workers(); });
  retired_.clear();
  return hung_.empty();
}

// ---- new calls ---------------------------------------------------------------------------------

void CallRunner::submit(std::shared_ptr<Operation> op, Duration timeout) {
  const MutexLock lock(mutex_);
  op->set_deadline(steady_clock::now() + std::clamp(timeout, Duration::zero(), kTimeoutMax));
  auto& raw = *op;
  active_.emplace(&raw, Active{op, raw.deadline()});
  if (auto too_new = refusal_by_minor(raw.traits().name, raw.minor_needed(), options_.abi_minor)) {
    raw.refuse(*std::move(too_new));
    return queue_result(raw);
  }
  if (stopping_ || health_.suspended || queue_.size() >= options_.queue_max) {
    raw.refuse(
        stopping_ ? cloud_error(CloudErrorClass::kCancelled, "the set is being closed")
        : health_.suspended
            ? cloud_error(CloudErrorClass::kInternal,
                          "the set is suspended: " + std::to_string(hung_.size()) +
                              " calls hang in the driver (R31)")
            : cloud_error(CloudErrorClass::kTransient, "too many calls wait for the driver"));
    return queue_result(raw);
  }
  deadlines_.emplace(raw.deadline(), &raw);
  if (deadlines_.begin()->second == &raw) completions_.wake();
  queue_.push(std::move(op));
  worker_wakes_.notify_one();
  if (queue_.size() > idle_ && workers_ < queue_.slots()) {
    ++workers_;
    std::thread([self = shared_from_this()] { self->run_worker(); }).detach();
  }
}

void CallRunner::refuse(std::shared_ptr<Operation> op, CloudError error) {
  const MutexLock lock(mutex_);
  auto& raw = *op;
  active_.emplace(&raw, Active{std::move(op), raw.deadline()});
  raw.refuse(std::move(error));
  queue_result(raw);
}

void CallRunner::lower_slots(std::size_t slots) {
  const MutexLock lock(mutex_);
  queue_.lower_slots(slots);
}

SetHealth CallRunner::health() const {
  const MutexLock lock(mutex_);
  return health_;
}

// ---- the workers -------------------------------------------------------------------------------

void CallRunner::run_worker() {
  pthread_setname_np(pthread_self(), "driver");
  const LogAs area(options_.log_area);
  const MutexLock lock(mutex_);
  while (true) {
    if (const auto op = queue_.next()) {
      {
        const MutexUnlock unlocked(mutex_);
        call(*op);
      }
      // A function that returned after its call was abandoned does not hold its worker any more.
      if (const auto hung = hung_.find(op.get()); hung != hung_.end())
        hung->second.holds_worker = false;
      queue_.leave(*op);
      worker_wakes_.notify_all();  // a slot is free, perhaps one that only some calls may use
    } else if (stopping_) {
      break;
    } else {
      ++idle_;
      worker_wakes_.wait(mutex_);
      --idle_;
    }
  }
  --workers_;
  worker_left_.notify_all();
}

void CallRunner::call(Operation& op) {
  if (options_.serial_gate == nullptr) return op.run();
  if (options_.serial_gate->enter(op.deadline())) {
    op.run();
    options_.serial_gate->leave();
  } else if (op.refuse(cloud_error(CloudErrorClass::kTimeout,
                                   "not sent: until the deadline another call was in the driver, "
                                   "which allows one at a time"))) {
    on_ended(op);
  }
}

// ---- the completion thread ---------------------------------------------------------------------

void CallRunner::run_completions() {
  pthread_setname_np(pthread_self(), "completions");
  const LogAs area(options_.log_area);
  while (true) {
    const bool finished = has_finished();  // then completions_ holds the last results
    const auto due = finished ? std::optional(steady_clock::now()) : apply_deadlines();
    if (const auto task = completions_.next(due)) {
      (*task)();
    } else if (finished) {
      return;
    }
  }
}

bool CallRunner::has_finished() const {
  const MutexLock lock(mutex_);
  return stopping_ && active_.empty();
}

/// Cancels or abandons the calls whose time is up. Returns the next deadline.
std::optional<SteadyTime> CallRunner::apply_deadlines() {
  const MutexLock lock(mutex_);
  const auto now = steady_clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    auto& op = *deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    on_deadline(op);
  }
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

/// Cancels a call at its deadline, and abandons it at the end of the grace time.
void CallRunner::on_deadline(Operation& op) {
  if (queue_.remove(op)) {
    op.refuse(cloud_error(CloudErrorClass::kTimeout,
                          "not sent: until the deadline the driver had as many calls as it allows "
                          "at once"));
    return queue_result(op);
  }
  const auto active = active_.find(&op);
  HOSTLER_ASSERT(active != active_.end(), "a call that has a deadline is active");
  auto& due = active->second.due;
  const bool was_cancelled = due > op.deadline() || stopping_;
  if (was_cancelled) return abandon(op);
  op.cancel(true);
  due += options_.grace;
  deadlines_.emplace(due, &op);
}

void CallRunner::abandon(Operation& op) {
  const auto active = active_.find(&op);
  HOSTLER_ASSERT(active != active_.end(), "only an active call is abandoned");
  const auto self = active->second.op;
  if (!op.abandon("R31: still running " + format_duration(options_.grace) +
                  " after it was cancelled; the host no longer waits for it")) {
    return;  // The driver has just ended it: on_ended() follows.
  }
  hung_.emplace(&op, Hung{self, op.in_function()});
  health_.hung_calls = hung_.size();
  queue_result(op);
  if (hung_.size() < kHungToSuspend || health_.suspended) return;
  health_.suspended = true;
  log::error(options_.log_area, "two calls hang in the driver: the set is suspended");
  refuse_queued(cloud_error(CloudErrorClass::kInternal, "the set was suspended: calls hang (R31)"));
}

/// The call is over: the completion thread delivers its result.
void CallRunner::queue_result(Operation& op) {
  const auto found = active_.find(&op);
  HOSTLER_ASSERT(found != active_.end(), "a call is active until it ends, and ends once");
  deadlines_.erase({found->second.due, &op});
  completions_.post([this, self = std::move(found->second.op)] {
    self->deliver_result();
    const MutexLock lock(mutex_);
    retire(self);
  });
  active_.erase(found);
}

void CallRunner::refuse_queued(const CloudError& error) {
  for (const auto& op : queue_.remove_all()) {
    op->refuse(error);
    queue_result(*op);
  }
}

void CallRunner::retire(std::shared_ptr<Operation> op) {
  retired_.push_back(std::move(op));
  if (retired_.size() > kRetiredMax) retired_.pop_front();
}

std::size_t CallRunner::hung_workers() const {
  return static_cast<std::size_t>(std::count_if(
      hung_.begin(), hung_.end(), [](const auto& entry) { return entry.second.holds_worker; }));
}

// ---- events of operations ----------------------------------------------------------------------

void CallRunner::on_ended(Operation& op) {
  const MutexLock lock(mutex_);
  queue_result(op);
}

void CallRunner::on_late_return(Operation& op) {
  const MutexLock lock(mutex_);
  const auto found = hung_.find(&op);
  HOSTLER_ASSERT(found != hung_.end(), "an abandoned call hangs until it returns, once");
  retire(std::move(found->second.op));
  hung_.erase(found);
  health_.hung_calls = hung_.size();
  if (health_.suspended && hung_.size() < kHungToSuspend) {
    health_.suspended = false;
    log::warn(options_.log_area, "a hung call has returned: the set is used again");
  }
}

void CallRunner::on_broken_rule(const Operation& op, const std::string& rule) {
  const std::string text = std::string(op.traits().name) + ": " + rule;
  const MutexLock lock(mutex_);
  ++health_.broken_rules;
  health_.last_broken_rule = text;
  if (health_.broken_rules <= kBrokenRulesLogged) {
    log::warn(options_.log_area, "broke a rule: " + text);
  }
}

}  // namespace hostler::plugin_host

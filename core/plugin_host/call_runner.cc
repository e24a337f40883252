#include "core/plugin_host/call_runner.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "core/base/units.h"
#include "core/log/log.h"

namespace hostler::plugin_host {
namespace {

using model::CloudError;
using model::CloudErrorClass;
using std::chrono::steady_clock;

constexpr std::size_t kHungToSuspend = 2;
constexpr std::size_t kRetiredMax = 256;
constexpr std::uint64_t kBrokenRulesLogged = 50;  // all are counted
constexpr Duration kTimeoutMax = std::chrono::hours(24);

}  // namespace

CallRunner::CallRunner(Options options) : options_(std::move(options)), queue_(options_.slots) {}

void CallRunner::start() {
  clerk_ = std::thread([this] { clerk(); });
}

bool CallRunner::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    refuse_queued(cloud_error(CloudErrorClass::kCancelled, "the set is being closed"));
    const auto give_up_at = steady_clock::now() + options_.grace;
    alarms_.clear();
    for (auto& [op, active] : active_) {
      op->cancel(false);
      active.due = give_up_at;
      alarms_.emplace(active.due, op);
    }
    mailbox_.nudge();
    worker_wakes_.notify_all();
  }
  clerk_.join();
  const MutexLock lock(mutex_);
  worker_left_.wait(mutex_,
                    [this]() HOSTLER_REQUIRES(mutex_) { return workers_ == hung_workers(); });
  retired_.clear();
  return hung_.empty();
}

// ---- taking calls on ---------------------------------------------------------------------------

void CallRunner::submit(std::shared_ptr<Operation> op, Duration timeout) {
  const MutexLock lock(mutex_);
  op->set_deadline(steady_clock::now() + std::clamp(timeout, Duration::zero(), kTimeoutMax));
  auto& raw = *op;
  active_.emplace(&raw, Active{op, raw.deadline()});
  if (stopping_ || health_.suspended || queue_.size() >= options_.queue_max) {
    raw.refuse(
        stopping_ ? cloud_error(CloudErrorClass::kCancelled, "the set is being closed")
        : health_.suspended
            ? cloud_error(CloudErrorClass::kInternal,
                          "the set is suspended: " + std::to_string(hung_.size()) +
                              " calls hang in the driver (R31)")
            : cloud_error(CloudErrorClass::kTransient, "too many calls wait for the driver"));
    return release(raw);
  }
  alarms_.emplace(raw.deadline(), &raw);
  if (alarms_.begin()->second == &raw) mailbox_.nudge();
  queue_.push(std::move(op));
  worker_wakes_.notify_one();
  if (queue_.size() > idle_ && workers_ < queue_.slots()) {
    ++workers_;
    std::thread([self = shared_from_this()] { self->work(); }).detach();
  }
}

void CallRunner::refuse(std::shared_ptr<Operation> op, CloudError error) {
  const MutexLock lock(mutex_);
  auto& raw = *op;
  active_.emplace(&raw, Active{std::move(op), raw.deadline()});
  raw.refuse(std::move(error));
  release(raw);
}

void CallRunner::lower_slots(std::size_t slots) {
  const MutexLock lock(mutex_);
  queue_.lower_slots(slots);
}

SetHealth CallRunner::health() const {
  const MutexLock lock(mutex_);
  return health_;
}

// ---- workers -----------------------------------------------------------------------------------

void CallRunner::work() {
  pthread_setname_np(pthread_self(), "driver");
  const MutexLock lock(mutex_);
  while (true) {
    if (const auto job = queue_.next()) {
      {
        const MutexUnlock unlocked(mutex_);
        call(*job);
      }
      queue_.leave(*job);
      worker_wakes_.notify_all();  // a lane is free, perhaps for a call that another one waits with
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
  if (options_.turnstile == nullptr) return op.run();
  if (options_.turnstile->enter(op.deadline())) {
    op.run();
    options_.turnstile->leave();
  } else if (op.refuse(cloud_error(CloudErrorClass::kTimeout,
                                   "another call is in the driver, which allows one; not sent"))) {
    on_ended(op);
  }
}

// ---- the clerk ---------------------------------------------------------------------------------

void CallRunner::clerk() {
  pthread_setname_np(pthread_self(), "driver clerk");
  while (true) {
    const bool last = finished();  // then whatever is still owed is in the mailbox
    const auto due = last ? std::optional(steady_clock::now()) : fire_deadlines();
    if (const auto item = mailbox_.next(due)) {
      (*item)();
    } else if (last) {
      return;
    }
  }
}

bool CallRunner::finished() const {
  const MutexLock lock(mutex_);
  return stopping_ && active_.empty();
}

std::optional<SteadyTime> CallRunner::fire_deadlines() {
  const MutexLock lock(mutex_);
  const auto now = steady_clock::now();
  while (!alarms_.empty() && alarms_.begin()->first <= now) {
    auto& op = *alarms_.begin()->second;
    alarms_.erase(alarms_.begin());
    time_is_up(op);
  }
  if (alarms_.empty()) return std::nullopt;
  return alarms_.begin()->first;
}

/// At its deadline a call is cancelled; at the end of the grace time it is given up on.
void CallRunner::time_is_up(Operation& op) {
  if (queue_.remove(op)) {
    op.refuse(cloud_error(CloudErrorClass::kTimeout,
                          "every call that the driver allows at once was taken; not sent"));
    return release(op);
  }
  auto& due = active_.at(&op).due;
  if (due > op.deadline() || stopping_) return give_up(op);  // The grace time is over too.
  op.cancel(true);
  due += options_.grace;
  alarms_.emplace(due, &op);
}

void CallRunner::give_up(Operation& op) {
  const auto self = active_.at(&op).op;
  if (!op.abandon("R31: still running " + format_duration(options_.grace) +
                  " after it was cancelled; given up on, its thread is written off")) {
    return;  // ended this moment: ended() is on its way
  }
  hung_.emplace(&op, Hung{self, op.in_function()});
  health_.hung_calls = hung_.size();
  release(op);
  if (hung_.size() < kHungToSuspend || health_.suspended) return;
  health_.suspended = true;
  log::error("driver " + options_.driver, "two calls hang in the driver: the set is suspended");
  refuse_queued(cloud_error(CloudErrorClass::kInternal, "the set was suspended: calls hang (R31)"));
}

void CallRunner::release(Operation& op) {
  const auto found = active_.find(&op);
  if (found == active_.end()) return;
  alarms_.erase({found->second.due, &op});
  mailbox_.post([this, self = std::move(found->second.op)] {
    self->deliver_result();
    retire(self);
  });
  active_.erase(found);
}

void CallRunner::refuse_queued(const CloudError& error) {
  for (const auto& op : queue_.remove_all()) {
    op->refuse(error);
    release(*op);
  }
}

std::size_t CallRunner::hung_workers() const {
  return static_cast<std::size_t>(std::count_if(
      hung_.begin(), hung_.end(), [](const auto& entry) { return entry.second.holds_worker; }));
}

void CallRunner::retire(const std::shared_ptr<Operation>& op) {
  const MutexLock lock(mutex_);
  retired_.push_back(op);
  if (retired_.size() > kRetiredMax) retired_.pop_front();
}

// ---- what operations say -----------------------------------------------------------------------

void CallRunner::on_ended(Operation& op) {
  const MutexLock lock(mutex_);
  release(op);
}

void CallRunner::on_late_return(Operation& op) {
  const MutexLock lock(mutex_);
  const auto found = hung_.find(&op);
  if (found == hung_.end()) return;
  retired_.push_back(std::move(found->second.op));
  hung_.erase(found);
  health_.hung_calls = hung_.size();
  if (health_.suspended && hung_.size() < kHungToSuspend) {
    health_.suspended = false;
    log::warn("driver " + options_.driver, "a call that hung came back: the set goes on");
  }
}

void CallRunner::on_broken_rule(const Operation& op, const std::string& rule) {
  const std::string text = std::string(op.traits().name) + ": " + rule;
  const MutexLock lock(mutex_);
  ++health_.broken_rules;
  health_.last_broken_rule = text;
  if (health_.broken_rules <= kBrokenRulesLogged) {
    log::warn("driver " + options_.driver, "broke a rule: " + text);
  }
}

}  // namespace hostler::plugin_host

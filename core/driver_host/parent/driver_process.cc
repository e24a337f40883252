#include "core/driver_host/parent/driver_process.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/base/units.h"
#include "core/plugin_host/host_table.h"
#include "core/plugin_host/outcome.h"

namespace hostler::driver_host {

using model::CloudErrorClass;
using plugin_host::cloud_error;
using plugin_host::Operation;
using std::chrono::steady_clock;

namespace {

constexpr Duration kTimeoutMax = std::chrono::hours(24);
/// An open that takes longer is worth a word.
constexpr Duration kLongOpen = std::chrono::seconds(3);

SteadyTime deadline_after(SteadyTime now, Duration timeout) {
  return now + std::clamp(timeout, Duration::zero(), kTimeoutMax);
}

std::string whole_seconds(Duration left) {
  return format_duration(std::chrono::ceil<std::chrono::seconds>(left));
}

/// By the wall clock of now.
std::string time_of(SteadyTime at, SteadyTime now) {
  const auto wall = std::chrono::system_clock::now() + (at - now);
  return format_wall(
      {std::chrono::duration_cast<std::chrono::microseconds>(wall.time_since_epoch()).count()});
}

}  // namespace

DriverProcess::DriverProcess(const std::string& driver, const std::string& library,
                             ProcessOptions options)
    : area_(plugin_host::log_area(driver, options.set)),
      options_(std::move(options)),
      connection_(std::make_shared<RemoteConnection>(driver, library, *this)),
      supervisor_(Supervisor::Limits{},
                  static_cast<std::uint64_t>(steady_clock::now().time_since_epoch().count())),
      calls_({.hang = options_.hang, .grace = options_.grace}) {}

void DriverProcess::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    supervisor_.stop(steady_clock::now());
    opening_.first = nullptr;
    for (auto& op : calls_.waiting()) {
      op->refuse(cloud_error(CloudErrorClass::kCancelled, "the set is being closed"));
      results_.push_back(calls_.remove(*op));
    }
    calls_.expire_all(steady_clock::now());
  }
  wakeup_.wake();
}

// ---- calls -------------------------------------------------------------------------------------

void DriverProcess::open(Op op, Duration timeout, MakeOpen make_open) {
  const auto now = steady_clock::now();
  op->set_deadline(deadline_after(now, timeout));
  {
    const MutexLock lock(mutex_);
    auto reason = refusal(now);
    if (!reason && opening_.first != nullptr)
      reason = cloud_error(CloudErrorClass::kTransient, "the set is being opened already");
    if (reason) {
      op->refuse(*std::move(reason));
      results_.push_back(std::move(op));
    } else {
      opening_.make = std::move(make_open);
      calls_.add_apart(op);
      opening_.first = std::move(op);
      supervisor_.want_open(now);
    }
  }
  wakeup_.wake();
}

void DriverProcess::on_open_ended(bool opened) {
  const MutexLock lock(mutex_);
  const auto now = steady_clock::now();
  if (opened)
    supervisor_.on_opened(opening_.child, now);
  else
    supervisor_.on_open_failed(opening_.child, now);
}

void DriverProcess::submit(Op op, Duration timeout) {
  const auto now = steady_clock::now();
  op->set_deadline(deadline_after(now, timeout));
  bool must_wake = false;
  Ops to_run;
  {
    const MutexLock lock(mutex_);
    auto reason =
        plugin_host::refusal_by_minor(op->traits().name, op->minor_needed(), table_.abi_minor);
    if (!reason) reason = refusal(now);
    if (reason) {
      op->refuse(*std::move(reason));
      results_.push_back(std::move(op));
      must_wake = true;
    } else {
      must_wake = op->deadline() < looks_at_;
      calls_.add(std::move(op));
      to_run = take_sendable();
    }
  }
  if (must_wake) wakeup_.wake();
  for (const auto& ready : to_run) ready->run();
}

void DriverProcess::refuse(Op op, model::CloudError error) {
  op->refuse(std::move(error));
  {
    const MutexLock lock(mutex_);
    results_.push_back(std::move(op));
  }
  wakeup_.wake();
}

/// Why a call is not even queued.
std::optional<model::CloudError> DriverProcess::refusal(SteadyTime now) {
  if (stopping_) return cloud_error(CloudErrorClass::kCancelled, "the set is being closed");
  if (supervisor_.is_suspended())
    return cloud_error(CloudErrorClass::kInternal,
                       "the set is suspended: calls hang in two processes of the driver (" +
                           calls_.hanging() + ")");
  if (const auto until = supervisor_.paused_until(now))
    return cloud_error(CloudErrorClass::kTransient,
                       "the driver's process ends again and again, and is started again in " +
                           whole_seconds(*until - now) + ": it " + health_.last_crash);
  if (calls_.count_waiting() >= options_.queue_max)
    return cloud_error(CloudErrorClass::kTransient, "too many calls wait for the driver");
  return std::nullopt;
}

DriverProcess::Ops DriverProcess::take_sendable() {
  Ops out;
  const auto child = supervisor_.current();
  if (!child) return out;
  while (auto op = calls_.next(*child)) out.push_back(std::move(op));
  if (!out.empty()) supervisor_.on_idle(*child, false);
  return out;
}

/// On the thread that runs the operation.
hostler_status DriverProcess::send(FrameType function, std::string body, hostler_op* op) {
  std::shared_ptr<ChildProcess> process;
  CallTable::Id id = 0;
  {
    const MutexLock lock(mutex_);
    const auto& operation = static_cast<const Operation&>(*op);
    id = calls_.id_of(operation);
    if (const auto child = calls_.child_of(operation)) {
      const auto found = processes_.find(*child);
      if (found != processes_.end()) process = found->second;
    }
  }
  // Else the process has ended meanwhile, and the call ends with it.
  if (process == nullptr) return HOSTLER_PENDING;
  const auto deadline = static_cast<std::int64_t>(op->deadline_mono_ns);
  body.insert(0, reinterpret_cast<const char*>(&deadline), sizeof deadline);
  process->send_call(function, id, body);
  if (process->has_backlog()) wakeup_.wake();
  return HOSTLER_PENDING;
}

void DriverProcess::on_ended(Operation& op) {
  {
    const MutexLock lock(mutex_);
    const auto child = calls_.child_of(op);
    const bool was_hanging = calls_.is_hanging(op);
    results_.push_back(calls_.remove(op));
    if (was_hanging && !calls_.has_hanging(*child)) supervisor_.on_recovered(*child);
  }
  wakeup_.wake();
}

void DriverProcess::set_slots(std::size_t slots) {
  const MutexLock lock(mutex_);
  calls_.set_slots(std::min(slots, table_.slots));
}

// ---- questions ---------------------------------------------------------------------------------

std::string DriverProcess::state(SteadyTime now) const {
  if (supervisor_.is_suspended()) return "suspended: two calls hang in " + calls_.hanging();
  if (const auto until = supervisor_.paused_until(now))
    return (start_problem_.empty() ? "crashed" : "not started: " + start_problem_) + ", next try " +
           time_of(*until, now);
  const auto until = supervisor_.goes_on_until(now);
  if (supervisor_.current() && until)
    return "open; it says again and again that files have changed: not replaced before " +
           time_of(*until, now);
  if (supervisor_.current()) return "open";
  if (!start_problem_.empty()) return "not started: " + start_problem_;
  return supervisor_.has_children() ? "opening" : "not open";
}

std::size_t DriverProcess::driver_slots() const {
  const MutexLock lock(mutex_);
  return table_.slots;
}

plugin_host::SetHealth DriverProcess::health() const {
  const MutexLock lock(mutex_);
  plugin_host::SetHealth health = health_;
  health.hung_calls = calls_.count_hanging();
  health.suspended = supervisor_.is_suspended();
  const auto now = steady_clock::now();
  health.state = state(now);
  if (const auto opening = calls_.opening(); opening && now - opening->second >= kLongOpen) {
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - opening->second);
    health.opening = std::string(opening->first->traits().name) + " has run for " +
                     std::to_string(age.count()) + " s";
  }
  return health;
}

}  // namespace hostler::driver_host

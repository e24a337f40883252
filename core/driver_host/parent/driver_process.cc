#include "core/driver_host/parent/driver_process.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/base/assert.h"
#include "core/base/units.h"
#include "core/log/log.h"
#include "core/plugin_host/host_table.h"
#include "core/plugin_host/outcome.h"

namespace hostler::driver_host {

using model::CloudErrorClass;
using plugin_host::cloud_error;
using plugin_host::Operation;
using std::chrono::steady_clock;

namespace {

constexpr Duration kTimeoutMax = std::chrono::hours(24);
constexpr std::uint64_t kBrokenRulesLogged = 50;  // health() counts all of them

std::optional<model::CloudError> already_opening() {
  return cloud_error(CloudErrorClass::kTransient, "the set is being opened already");
}

}  // namespace

DriverProcess::DriverProcess(const std::string& driver, plugin_host::LibraryFile library,
                             ProcessOptions options)
    : driver_(driver),
      area_(plugin_host::log_area(driver, options.set)),
      library_(std::move(library)),
      options_(std::move(options)),
      connection_(std::make_shared<RemoteConnection>(driver, library_.path.string(), *this)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      supervisor_(Supervisor::Limits{},
                  static_cast<std::uint64_t>(steady_clock::now().time_since_epoch().count())),
      calls_({.hang = options_.hang, .grace = options_.grace}) {
  thread_ = std::thread([this] { run(); });
}

DriverProcess::~DriverProcess() = default;

void DriverProcess::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);  // full: it is awake
}

void DriverProcess::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    supervisor_.stop(steady_clock::now());
    first_open_ = nullptr;
    for (auto& op : calls_.waiting()) {
      op->refuse(cloud_error(CloudErrorClass::kCancelled, "the set is being closed"));
      results_.push_back(calls_.remove(*op));
    }
    calls_.expire_all(steady_clock::now());
  }
  wake();
  thread_.join();
}

// ---- calls -------------------------------------------------------------------------------------

void DriverProcess::open(CallTable::Op op, Duration timeout, MakeOpen make_open) {
  const auto now = steady_clock::now();
  op->set_deadline(now + std::clamp(timeout, Duration::zero(), kTimeoutMax));
  {
    const MutexLock lock(mutex_);
    if (auto reason = first_open_ == nullptr ? refusal(now) : already_opening()) {
      op->refuse(*std::move(reason));
      results_.push_back(std::move(op));
    } else {
      make_open_ = std::move(make_open);
      calls_.add_apart(op);
      first_open_ = std::move(op);
      supervisor_.want_open(now);
    }
  }
  wake();
}

void DriverProcess::on_open_ended(bool opened) {
  const MutexLock lock(mutex_);
  const auto now = steady_clock::now();
  if (opened)
    supervisor_.on_opened(opening_, now);
  else
    supervisor_.on_open_failed(opening_, now);
}

void DriverProcess::submit(CallTable::Op op, Duration timeout) {
  const auto now = steady_clock::now();
  op->set_deadline(now + std::clamp(timeout, Duration::zero(), kTimeoutMax));
  bool must_wake = false;
  Sendable to_run;
  {
    const MutexLock lock(mutex_);
    auto reason = plugin_host::refusal_by_minor(op->traits().name, op->minor_needed(), abi_minor_);
    if (!reason) reason = refusal(now);
    if (reason) {
      op->refuse(*std::move(reason));
      results_.push_back(std::move(op));
      must_wake = true;
    } else {
      must_wake = op->deadline() < thread_wakes_at_;
      calls_.add(std::move(op));
      to_run = take_sendable();
    }
  }
  if (must_wake) wake();
  for (const auto& ready : to_run) ready->run();
}

void DriverProcess::refuse(CallTable::Op op, model::CloudError error) {
  op->refuse(std::move(error));
  {
    const MutexLock lock(mutex_);
    results_.push_back(std::move(op));
  }
  wake();
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
                           format_duration(std::chrono::ceil<std::chrono::seconds>(*until - now)) +
                           ": it " + health_.last_crash);
  if (calls_.count_waiting() >= options_.queue_max)
    return cloud_error(CloudErrorClass::kTransient, "too many calls wait for the driver");
  return std::nullopt;
}

DriverProcess::Sendable DriverProcess::take_sendable() {
  Sendable out;
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
  if (process->has_backlog()) wake();
  return HOSTLER_PENDING;
}

// ---- events of operations ----------------------------------------------------------------------

void DriverProcess::on_ended(Operation& op) {
  {
    const MutexLock lock(mutex_);
    results_.push_back(calls_.remove(op));
  }
  if (std::this_thread::get_id() != thread_.get_id()) wake();
}

void DriverProcess::on_broken_rule(const Operation& op, const std::string& rule) {
  const MutexLock lock(mutex_);
  count_broken_rule(std::string(op.traits().name) + ": " + rule);
}

void DriverProcess::count_broken_rule(const std::string& text) {
  ++health_.broken_rules;
  health_.last_broken_rule = text;
  if (health_.broken_rules <= kBrokenRulesLogged) log::warn(area_, "broke a rule: " + text);
}

void DriverProcess::set_slots(std::size_t slots) {
  const MutexLock lock(mutex_);
  calls_.set_slots(std::min(slots, driver_slots_));
}

std::string DriverProcess::state(SteadyTime now) const {
  if (supervisor_.is_suspended()) return "suspended: two calls hang in " + calls_.hanging();
  if (const auto until = supervisor_.paused_until(now))
    return "crashed, next try in " +
           format_duration(std::chrono::ceil<std::chrono::seconds>(*until - now));
  if (supervisor_.current()) return "open";
  return supervisor_.has_children() ? "opening" : "not open";
}

std::size_t DriverProcess::driver_slots() const {
  const MutexLock lock(mutex_);
  return driver_slots_;
}

plugin_host::SetHealth DriverProcess::health() const {
  const MutexLock lock(mutex_);
  plugin_host::SetHealth health = health_;
  health.hung_calls = calls_.count_hanging();
  health.suspended = supervisor_.is_suspended();
  health.state = state(steady_clock::now());
  return health;
}

}  // namespace hostler::driver_host

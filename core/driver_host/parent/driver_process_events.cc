// What DriverProcess does for ProcessLoop, on the thread of that.
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/driver_host/parent/driver_process.h"
#include "core/log/log.h"
#include "core/plugin_host/outcome.h"

namespace hostler::driver_host {

using model::CloudErrorClass;
using plugin_host::cloud_error;
using plugin_host::Operation;
using std::chrono::steady_clock;

namespace {

/// Between two looks at deadlines, if nothing happens; a call with a later deadline wakes nobody.
constexpr Duration kSleepMax = std::chrono::seconds(10);
/// For an open in a new process, of a set that was open before.
constexpr Duration kReopenTime = std::chrono::seconds(60);
constexpr std::uint64_t kBrokenRulesLogged = 50;  // health() counts all of them

}  // namespace

// ---- what is to be done ------------------------------------------------------------------------

DriverProcess::Ops DriverProcess::take_results() {
  const MutexLock lock(mutex_);
  for (const auto& [id, process] : processes_) supervisor_.on_idle(id, !calls_.has_calls(id));
  return std::exchange(results_, {});
}

bool DriverProcess::has_results() const {
  const MutexLock lock(mutex_);
  return !results_.empty();
}

DriverProcess::Ops DriverProcess::take_due(SteadyTime now) {
  const MutexLock lock(mutex_);
  while (const auto due = calls_.next_due(now)) apply_deadline(due->first, due->second);
  return take_sendable();
}

void DriverProcess::apply_deadline(const Op& op, CallTable::Due what) {
  const auto child = calls_.child_of(*op);
  switch (what) {
    case CallTable::Due::kNotSent:
      op->refuse(cloud_error(CloudErrorClass::kTimeout,
                             supervisor_.current()
                                 ? "not sent: until the deadline the driver had as many calls as "
                                   "it allows at once"
                                 : "not sent: until the deadline no process of the driver was "
                                   "open"));
      if (opening_.first == op) opening_.first = nullptr;
      results_.push_back(calls_.remove(*op));
      break;
    case CallTable::Due::kCancel:
      op->cancel(!stopping_);
      if (const auto found = processes_.find(*child); found != processes_.end())
        found->second->send_control(FrameType::kCancel, calls_.id_of(*op), stopping_ ? "" : "late");
      break;
    case CallTable::Due::kHang:
      supervisor_.on_hang(*child);
      calls_.free_slots_of(*child);
      // A set that is closed does not wait for what changes nothing.
      if (stopping_ && !op->traits().changes_cloud) abandon(op, *child, options_.hang);
      break;
    case CallTable::Due::kAbandon:
      abandon(op, *child, stopping_ ? options_.hang : options_.grace);
      break;
  }
}

void DriverProcess::abandon(const Op& op, ChildId child, Duration after) {
  if (!op->abandon("R31: still running " + format_duration(after) +
                   " after it was cancelled; its process is killed"))
    return;  // it has just ended
  supervisor_.on_abandoned(child, op->traits().name);
  results_.push_back(calls_.remove(*op));
}

std::vector<Supervisor::Action> DriverProcess::next_actions(SteadyTime now) {
  const MutexLock lock(mutex_);
  return supervisor_.next(now);
}

DriverProcess::Op DriverProcess::take_open(ChildId child) {
  const MutexLock lock(mutex_);
  opening_.child = child;
  Op op = std::exchange(opening_.first, nullptr);
  if (op == nullptr) {
    op = opening_.make();
    op->set_deadline(steady_clock::now() + kReopenTime);
    calls_.add_apart(op);
  }
  calls_.send_apart(*op, child);
  supervisor_.on_idle(child, false);
  return op;
}

std::optional<SteadyTime> DriverProcess::next_look(SteadyTime now) {
  const MutexLock lock(mutex_);
  const bool is_idle = calls_.is_empty() && results_.empty() && !supervisor_.has_children();
  if (stopping_ && is_idle) return std::nullopt;
  looks_at_ = now;
  if (!results_.empty()) return now;
  looks_at_ += kSleepMax;
  for (const auto at : {supervisor_.wakes_at(), calls_.wakes_at()})
    if (at) looks_at_ = std::min(looks_at_, *at);
  return looks_at_;
}

// ---- processes ---------------------------------------------------------------------------------

void DriverProcess::on_started(std::shared_ptr<ChildProcess> process) {
  const MutexLock lock(mutex_);
  const ChildId id = process->id();
  processes_[id] = std::move(process);
  start_problem_.clear();
}

void DriverProcess::on_not_started(ChildId child, const std::string& why, bool no_descriptors) {
  log::error(area_, why);
  const MutexLock lock(mutex_);
  start_problem_ = why;
  health_.last_crash = "could not be started: " + why;
  supervisor_.on_exit(child, steady_clock::now());
  auto error = cloud_error(CloudErrorClass::kTransient, "the driver's process: " + why);
  error.no_descriptors = no_descriptors;
  // Without a process they would only wait for their deadlines.
  for (const Op& op : calls_.waiting()) {
    op->refuse(error);
    results_.push_back(calls_.remove(*op));
  }
  opening_.first = nullptr;
}

/// The call that it named; else the only one, unless the kernel or somebody else killed it.
DriverProcess::Op DriverProcess::guilty_of(ChildId child, const Exit& exit, const Op& loading) {
  if (Op named = calls_.find(exit.in_call, child)) return named;
  if (exit.in_call != 0) return nullptr;  // it named a call that is over
  if (exit.was_told || exit.was_killed || exit.in_close) return nullptr;
  if (loading != nullptr) return loading;
  const Ops all = calls_.in(child);
  return all.size() == 1 ? all.front() : nullptr;
}

void DriverProcess::on_hello(ChildId child, const Hello& hello) {
  connection_->set_extensions(hello.extensions);
  const MutexLock lock(mutex_);
  table_ = {std::clamp<std::size_t>(hello.max_concurrency, 1, 1024), hello.abi_minor};
  calls_.set_slots(table_.slots);
  health_.driver_version = printable(hello.version, 80);
  health_.sandbox = printable(hello.in_force.sandbox, 20);
  health_.memory_limit = printable(hello.in_force.memory_limit, 20);
  health_.cpu_limit = printable(hello.in_force.cpu_limit, 20);
  supervisor_.on_hello(child, steady_clock::now());
}

void DriverProcess::on_pong(ChildId child) {
  const MutexLock lock(mutex_);
  supervisor_.on_pong(child, steady_clock::now());
}

void DriverProcess::on_outdated(ChildId child) {
  const MutexLock lock(mutex_);
  supervisor_.on_outdated(child, steady_clock::now());
}

DriverProcess::Lost DriverProcess::on_exit(ChildId child, Exit exit) {
  const MutexLock lock(mutex_);
  Lost lost;
  lost.calls = calls_.in(child);
  const bool is_crash = supervisor_.on_exit(child, steady_clock::now());
  // It has not come to the open that somebody waits for; another process may.
  const Op loading = supervisor_.has_successor() ? nullptr : std::exchange(opening_.first, nullptr);
  if (loading != nullptr) lost.calls.push_back(loading);
  lost.guilty = guilty_of(child, exit, loading);
  std::string how = exit.how;
  if (lost.guilty != nullptr) {
    lost.crash = {.driver = options_.driver,
                  .call = lost.guilty == loading ? "load" : lost.guilty->traits().name,
                  .ending = exit.how,
                  .output = exit.last_output};
    if (!health_.driver_version.empty()) lost.crash.driver.version = health_.driver_version;
    how += " in " + lost.crash.call;
  }
  if (exit.in_close && !exit.was_told) how += " in set_close";
  if (!exit.last_output.empty()) how += "; it wrote: " + exit.last_output;
  lost.why = "the driver's process " + how;
  processes_.erase(child);
  if (is_crash || exit.in_close || exit.was_told) {
    log::error(area_, lost.why);
    health_.last_crash = std::move(how);
    ++health_.crashes;
  }
  return lost;
}

// ---- calls -------------------------------------------------------------------------------------

DriverProcess::Op DriverProcess::find(ChildId child, CallTable::Id call) const {
  const MutexLock lock(mutex_);
  return calls_.find(call, child);
}

bool DriverProcess::on_returned(ChildId child, CallTable::Id call) {
  const MutexLock lock(mutex_);
  if (calls_.find(call, child) == nullptr) return false;
  calls_.free_slot(call);
  return true;
}

DriverProcess::Op DriverProcess::on_end(ChildId child, CallTable::Id call) {
  const MutexLock lock(mutex_);
  Op op = calls_.find(call, child);
  if (op != nullptr) calls_.free_slot(call);
  return op;
}

void DriverProcess::on_broken_rule(const Operation& op, const std::string& rule) {
  on_broken_rule(std::string(op.traits().name) + ": " + rule);
}

void DriverProcess::on_broken_rule(const std::string& text) {
  const MutexLock lock(mutex_);
  ++health_.broken_rules;
  health_.last_broken_rule = text;
  if (health_.broken_rules <= kBrokenRulesLogged) log::warn(area_, "broke a rule: " + text);
}

}  // namespace hostler::driver_host

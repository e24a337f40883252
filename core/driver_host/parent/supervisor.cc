#include "core/driver_host/parent/supervisor.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::driver_host {
namespace {

constexpr std::size_t kChildrenMax = 2;

}  // namespace

// ---- events ------------------------------------------------------------------------------------

void Supervisor::want_open(SteadyTime now) {
  wanted_ = try_open_ = true;
  next_open_ = std::min(next_open_, now);
}

void Supervisor::stop(SteadyTime /*now*/) {
  stopping_ = true;
  wanted_ = try_open_ = false;
}

void Supervisor::set_state(ChildId id, State state, SteadyTime now) {
  const auto found = children_.find(id);
  if (found == children_.end() || found->second.state == State::kKilled) return;
  found->second.state = state;
  found->second.since = found->second.answered = now;
}

void Supervisor::on_hello(ChildId child, SteadyTime now) { set_state(child, State::kReady, now); }

void Supervisor::on_opened(ChildId child, SteadyTime now) {
  set_state(child, State::kOpen, now);
  was_open_ = true;
  open_delay_ = {};
}

void Supervisor::on_open_failed(ChildId child, SteadyTime now) {
  set_state(child, State::kReady, now);
  open_delay_ = std::clamp(open_delay_ * 2, limits_.backoff_min, limits_.backoff_max);
  next_open_ = now + open_delay_;
}

void Supervisor::on_pong(ChildId child, SteadyTime now) {
  const auto found = children_.find(child);
  if (found == children_.end()) return;
  found->second.answered = now;
  found->second.ping_sent.reset();
}

void Supervisor::on_hang(ChildId child) {
  const auto found = children_.find(child);
  if (found != children_.end() && found->second.state == State::kOpen)
    found->second.state = State::kHung;
}

void Supervisor::on_outdated(ChildId child, SteadyTime now) {
  // While an earlier one still works, there is no room for another.
  if (current() != child || now < next_succession_ || children_.size() >= kChildrenMax) return;
  next_succession_ = now + delay_after(successions_, now);
  on_hang(child);
}

void Supervisor::on_recovered(ChildId child) {
  const auto found = children_.find(child);
  if (found == children_.end() || found->second.state != State::kHung) return;
  // Without one it takes calls again; else it ends as soon as it is idle.
  if (!has_successor()) found->second.state = State::kOpen;
}

void Supervisor::on_abandoned(ChildId child, const std::string& function) {
  const auto found = children_.find(child);
  if (found == children_.end()) return;
  kill(found->second, "R31: " + function + " hangs");
}

void Supervisor::on_idle(ChildId child, bool idle) {
  const auto found = children_.find(child);
  if (found != children_.end()) found->second.idle = idle;
}

bool Supervisor::on_exit(ChildId child, SteadyTime now) {
  const auto found = children_.find(child);
  if (found == children_.end()) return false;
  const bool expected = found->second.expected_to_end;
  const bool hung = found->second.state == State::kKilled;
  children_.erase(found);
  if (expected) return false;
  const Duration delay = delay_after(crashes_, now);
  // One that hung has cost its grace time already.
  const bool at_once = hung && crashes_.size() < limits_.crashes_max;
  next_start_ = at_once ? now : now + delay;
  return true;
}

/// Grows with the number of them in the window, and varies by a quarter, so that several sets do
/// not start at the same moment.
Duration Supervisor::delay_after(std::deque<SteadyTime>& earlier, SteadyTime now) {
  earlier.push_back(now);
  while (earlier.front() + limits_.crash_window < now) earlier.pop_front();
  const std::size_t n = earlier.size();
  const bool often = n >= limits_.crashes_max;
  const Duration first = often ? limits_.pause_min : limits_.backoff_min;
  const Duration most = often ? limits_.pause_max : limits_.backoff_max;
  const std::size_t doublings = std::min<std::size_t>(often ? n - limits_.crashes_max : n - 1, 20);
  const Duration delay = std::min(first * (std::int64_t{1} << doublings), most);
  return delay * 3 / 4 + Duration(random_.below(static_cast<std::uint64_t>((delay / 2).count())));
}

// ---- what to do --------------------------------------------------------------------------------

bool Supervisor::takes_calls_soon(const Child& child) {
  return child.state <= State::kOpen && !child.kill_reason;
}

/// Whoever wants the set to be open repeats a first open that failed; later ones are repeated here.
bool Supervisor::may_open() const { return wanted_ && (try_open_ || was_open_); }

bool Supervisor::needs_child() const {
  return wanted_ && children_.size() < kChildrenMax && !has_successor();
}

void Supervisor::kill(Child& child, std::string why) {
  if (child.state != State::kKilled && !child.kill_reason) child.kill_reason = std::move(why);
}

std::vector<Supervisor::Action> Supervisor::next(SteadyTime now) {
  std::vector<Action> actions;
  for (auto& [id, child] : children_)
    while (auto action = next_of(id, child, now)) actions.push_back(*std::move(action));
  if (needs_child() && next_start_ <= now) {
    const ChildId id = ++last_;
    children_.emplace(id, Child{.since = now, .answered = now});
    actions.emplace_back(Start{id});
  }
  return actions;
}

std::optional<Supervisor::Action> Supervisor::next_of(ChildId id, Child& child, SteadyTime now) {
  if (child.state == State::kKilled) return std::nullopt;
  if (child.state == State::kStarting && child.since + limits_.hello <= now)
    kill(child, "it has not loaded the driver in time");
  if (child.state == State::kClosing && child.since + limits_.close <= now)
    kill(child, "R25: set_close has not returned in time");
  if (child.answered + limits_.ping_timeout <= now && child.ping_sent)
    kill(child, "the process does not answer");
  if (child.kill_reason) {
    child.state = State::kKilled;
    return Kill{id, *child.kill_reason};
  }
  const bool superseded = child.state == State::kHung && current().has_value();
  const bool done = stopping_ || superseded;
  if (done && child.idle && child.state != State::kClosing && child.state != State::kStarting) {
    child.expected_to_end = true;
    child.state = State::kClosing;
    child.since = now;
    return Close{id};
  }
  if (stopping_ && child.state == State::kStarting) {
    child.expected_to_end = true;
    child.state = State::kKilled;
    return Kill{id, {}};
  }
  if (child.state == State::kReady && may_open() && next_open_ <= now) {
    child.state = State::kOpening;
    try_open_ = false;
    return Open{id};
  }
  if (!child.ping_sent && child.answered + limits_.ping_interval <= now) {
    child.ping_sent = now;
    return Ping{id};
  }
  return std::nullopt;
}

std::optional<SteadyTime> Supervisor::wakes_at() const {
  std::optional<SteadyTime> first;
  const auto note = [&](std::optional<SteadyTime> at) {
    if (at && (!first || *at < *first)) first = at;
  };
  for (const auto& [id, child] : children_) note(wakes_at(child));
  if (needs_child()) note(next_start_);
  return first;
}

std::optional<SteadyTime> Supervisor::wakes_at(const Child& child) const {
  switch (child.state) {
    case State::kKilled:
      return std::nullopt;
    case State::kStarting:
      return child.since + limits_.hello;
    case State::kClosing:
      return child.since + limits_.close;
    case State::kReady:
      if (may_open()) return next_open_;
      break;
    default:
      break;
  }
  return child.answered + (child.ping_sent ? limits_.ping_timeout : limits_.ping_interval);
}

// ---- questions ---------------------------------------------------------------------------------

std::optional<ChildId> Supervisor::current() const {
  for (const auto& [id, child] : children_)
    if (child.state == State::kOpen && !child.kill_reason) return id;
  return std::nullopt;
}

bool Supervisor::has_successor() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const auto& entry) { return takes_calls_soon(entry.second); });
}

bool Supervisor::is_suspended() const {
  return children_.size() == kChildrenMax &&
         std::all_of(children_.begin(), children_.end(),
                     [](const auto& entry) { return entry.second.state == State::kHung; });
}

std::optional<SteadyTime> Supervisor::paused_until(SteadyTime now) const {
  if (!needs_child() || crashes_.size() < limits_.crashes_max || next_start_ <= now)
    return std::nullopt;
  return next_start_;
}

std::optional<SteadyTime> Supervisor::goes_on_until(SteadyTime now) const {
  if (successions_.size() < limits_.crashes_max || next_succession_ <= now) return std::nullopt;
  return next_succession_;
}

}  // namespace hostler::driver_host

#include <algorithm>

#include "core/base/units.h"
#include "core/fleet/transition.h"

/// What is done before a host goes because of its pool's bounds.
namespace hostler::fleet {
namespace {

using model::Event;
using model::InstanceState;

bool may_drain(const Instance& instance) {
  const auto state = instance.record.state;
  return instance.record.drain_began.us == 0 &&
         (state == InstanceState::kRequested || state == InstanceState::kBooting ||
          state == InstanceState::kUnknown || state == InstanceState::kIdle ||
          state == InstanceState::kBusy);
}

Outcome end(Instance& instance, Event event, std::string reason) {
  Outcome out;
  instance.record.drain_over = true;
  instance.ending.drain.end();
  out.changed = true;
  out.event = event;
  out.reason = std::move(reason);
  return out;
}

}  // namespace

Outcome begin_drain(Instance& instance, const std::string& reason, const model::DrainPolicy& drain,
                    Now now) {
  Outcome out;
  if (!may_drain(instance)) return out;
  instance.record.drain_began = now.wall;
  instance.record.drain_over = false;
  instance.ending.drain.begin(now.wall, now.mono + drain.timeout, !drain.command.empty());
  out.changed = true;
  out.event = Event::kDrainBegan;
  out.reason = reason;
  return out;
}

Outcome drain_command_ended(Instance& instance, bool good, const std::string& text,
                            const model::PoolPolicy& pool, Now now) {
  Outcome out;
  if (!instance.drains() || !instance.ending.drain.command_runs()) return out;
  instance.ending.drain.command_ended(good, now.wall);
  if (!good) {
    out.event = Event::kDrainCommandFailed;
    out.reason =
        text + "; it goes when it is quiet, or after " +
        format_duration(std::max(Duration::zero(), instance.ending.drain.deadline() - now.mono));
    return out;
  }
  const auto& drain = pool.scaling.drain;
  return !drain || drain->quiet.empty() ? drain_over(instance, "its command has ended") : out;
}

bool awaits_quiet(const Instance& instance) {
  return instance.drains() && !instance.ending.drain.command_runs();
}

Outcome drain_over(Instance& instance, const std::string& why) {
  return instance.drains() ? end(instance, Event::kDrainOver, why) : Outcome{};
}

Outcome drain_due(Instance& instance, const model::PoolPolicy& pool, Now now) {
  if (!instance.drains() || now.mono < instance.ending.drain.deadline()) return {};
  const auto& drain = pool.scaling.drain;
  if (!drain) return drain_over(instance, "its pool drains no hosts any more");
  const std::string why = instance.ending.drain.command_runs() ? "its command has not ended"
                          : drain->quiet.empty()
                              ? "its command has not succeeded, as far as is known"
                              : "it is not quiet, as far as is known";
  return end(instance, Event::kDrainTimedOut,
             why + ", " + format_duration(drain->timeout) + " after it began");
}

void restore_drain(Instance& instance, const model::PoolPolicy& pool, Now now) {
  if (!instance.drains()) return;
  // A clock that jumped must not end it early, nor keep it for long.
  const Duration timeout = pool.scaling.drain ? pool.scaling.drain->timeout : Duration::zero();
  const Duration left = instance.record.drain_began + timeout - now.wall;
  instance.ending.drain.begin(instance.record.drain_began,
                              now.mono + std::clamp(left, Duration::zero(), timeout),
                              /*has_command=*/false);
}

void forget_drain(Instance& instance) {
  instance.record.drain_began = {};
  instance.record.drain_over = false;
  instance.ending.drain = {};
}

}  // namespace hostler::fleet

#include <algorithm>

#include "core/fleet/transition.h"

namespace hostler::fleet {
namespace {

using model::CloudErrorClass;
using model::Event;
using model::InstanceState;
using model::Reason;

constexpr Duration kStopPauseMax = std::chrono::minutes(5);

void enter_stopped(Instance& instance, Outcome& out, Event event, Reason code,
                   const std::string& reason, Now now) {
  enter(instance, InstanceState::kStopped, out, event, code, reason, now);
  stop_expecting(instance);
  instance.record.address.clear();  // The cloud may give it to another machine now.
  instance.power.went_off();
  forget_drain(instance);
  forget_agent(instance);
  out.effects.push_back(Effect::kDisconnect);
}

}  // namespace

bool is_final(const model::CloudError& error) {
  return error.cls == CloudErrorClass::kUnsupported || error.cls == CloudErrorClass::kInvalid;
}

void stopped_by_itself(Instance& instance, const std::string& reason, Outcome& out, Now now) {
  if (instance.record.state == InstanceState::kBooting &&
      instance.power.wakes_in_vain() >= kWakesInVainMax) {
    out = terminate(instance, Reason::kDoesNotStart,
                    "switched on " + std::to_string(instance.power.wakes_in_vain()) +
                        " times, and off again each time" +
                        (reason.empty() ? std::string() : ": " + reason),
                    now);
    return;
  }
  enter_stopped(instance, out, Event::kStopped, Reason::kCloudStopped, reason, now);
  stop_happened(instance);
}

Outcome switch_off(Instance& instance, Reason code, const std::string& reason, Now now) {
  Outcome out;
  if (instance.record.state != InstanceState::kIdle) return out;
  enter_stopped(instance, out, Event::kSwitchedOff, code, reason, now);
  instance.power.changed(now.mono);
  out.effects.push_back(Effect::kStop);
  out.effects.push_back(Effect::kList);
  return out;
}

Outcome switch_on(Instance& instance, const std::string& reason, const model::PoolPolicy& pool,
                  Now now) {
  Outcome out;
  if (instance.record.state != InstanceState::kStopped || !instance.power.was_seen_off())
    return out;
  enter(instance, InstanceState::kBooting, out, Event::kSwitchedOn, Reason::kNone, reason, now);
  set_deadline(instance, now.mono + pool.boot_timeout, now);
  instance.power.switched_on(now.mono);
  await_agent_anew(instance, pool, now);
  out.effects = {Effect::kStart, Effect::kList};
  return out;
}

Outcome stop_answered(Instance& instance, const model::CloudError* error,
                      const model::PoolPolicy& pool, Now now) {
  Outcome out;
  instance.power.changed(now.mono);
  if (instance.record.state != InstanceState::kStopped) return out;
  if (error != nullptr && is_final(*error))
    return terminate(instance, Reason::kCannotStop, error->message, now);
  // The stop is sent again then, unless a list has shown the instance off. Each time later: lists
  // of a cloud that shows changes late are too old to count until so long after the last stop.
  const Duration waited = std::min<Duration>(now.mono - instance.since, kStopPauseMax);
  set_deadline(instance, now.mono + std::max(waited, pool.shutdown_timeout), now);
  out.effects.push_back(Effect::kList);
  return out;
}

Outcome start_answered(Instance& instance, const model::CloudError* error, Now now) {
  Outcome out;
  instance.power.changed(now.mono);
  if (instance.record.state != InstanceState::kBooting) return out;
  out.effects.push_back(Effect::kList);
  if (error == nullptr || error->outcome_unknown || error->cls == CloudErrorClass::kNotFound)
    return out;
  if (is_final(*error)) return terminate(instance, Reason::kCannotStart, error->message, now);
  out = {};
  enter_stopped(instance, out, Event::kStartRefused, model::reason_of(error->cls), error->message,
                now);
  instance.power.start_refused();
  out.effects.push_back(Effect::kList);
  return out;
}

}  // namespace hostler::fleet

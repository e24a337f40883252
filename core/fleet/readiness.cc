#include <utility>

#include "core/fleet/transition.h"

/// When an instance is ready: four kinds of evidence, of which its pool names one.
namespace hostler::fleet {

using model::Event;
using model::Health;
using model::InstanceState;
using model::Readiness;
using model::Reason;

bool needs_link(const model::PoolPolicy& pool) {
  return pool.readiness == Readiness::kAgent || pool.readiness == Readiness::kSsh;
}

bool awaits_list(const Instance& instance, const model::PoolPolicy& pool) {
  const auto state = instance.record.state;
  const bool comes = state == InstanceState::kRequested || state == InstanceState::kBooting ||
                     state == InstanceState::kUnknown;
  return comes && (pool.readiness == Readiness::kCloud ||
                   (needs_link(pool) && instance.record.address.empty()));
}

bool ends_when_empty(const Instance& instance) {
  return instance.record.health == Health::kBroken && instance.empty() &&
         !instance.record.restored && instance.record.idle_behavior != model::IdleBehavior::kHold;
}

void stop_expecting(Instance& instance) {
  instance.link.stop_expecting();
  if (instance.record.health == Health::kUnreachable) instance.record.health = Health::kHealthy;
  instance.refusals.end_rest();
}

void become_ready(Instance& instance, Outcome& out, Now now) {
  auto& record = instance.record;
  const bool was_unreachable = instance.link.became_ready();
  instance.power.came_up(now.mono);
  if (was_unreachable) {
    set_deadline(instance, kNever, now);
    if (record.health == Health::kUnreachable) record.health = Health::kHealthy;
    out.changed = true;
    out.event = Event::kReachable;
  }
  if (record.state != InstanceState::kBooting && record.state != InstanceState::kUnknown) return;
  const bool first = record.ready.us == 0;
  if (first) record.ready = now.wall;
  const InstanceState next = instance.empty() ? InstanceState::kIdle : InstanceState::kBusy;
  enter(instance, next, out, first ? Event::kReady : Event::kReachable, Reason::kNone, "", now);
  if (record.health != Health::kBroken) record.last_text.clear();
  if (next == InstanceState::kIdle && ends_when_empty(instance))
    out = terminate(instance, Reason::kBroken, record.last_text, now);
}

bool work_is_known(Instance& instance) {
  instance.told.work_known();
  return std::exchange(instance.record.restored, false);
}

void become_ready_without_agent(Instance& instance, Outcome& out, Now now) {
  if (work_is_known(instance)) out.changed = true;
  become_ready(instance, out, now);
}

Outcome reported(Instance& instance, const model::PoolPolicy& pool, Now now) {
  Outcome out;
  const auto state = instance.record.state;
  const bool is_on = state == InstanceState::kBooting || state == InstanceState::kUnknown ||
                     state == InstanceState::kIdle || state == InstanceState::kBusy;
  if (is_on && pool.readiness == Readiness::kReported)
    become_ready_without_agent(instance, out, now);
  return out;
}

}  // namespace hostler::fleet

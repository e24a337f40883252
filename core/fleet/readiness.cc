#include <utility>

#include "core/fleet/transition.h"
#include "core/fleet/uses.h"

/// When an instance is ready: four kinds of evidence, of which its pool names one.
namespace hostler::fleet {

using model::Event;
using model::Health;
using model::InstanceState;
using model::Readiness;
using model::Reason;

Readiness evidence_of(const Instance& instance, const model::PoolPolicy& pool) {
  return instance.occupancy.attempts().empty() ? pool.readiness : Readiness::kAgent;
}

bool needs_link(const Instance& instance, const model::PoolPolicy& pool) {
  return model::needs_link(evidence_of(instance, pool));
}

bool is_evidence_of_list(const Instance& instance, const model::PoolPolicy& pool) {
  const auto kind = evidence_of(instance, pool);
  const auto& record = instance.record;
  const bool was_reported = record.state == InstanceState::kUnknown && record.ready.us != 0;
  return kind == Readiness::kCloud || (kind == Readiness::kReported && was_reported);
}

bool awaits_list(const Instance& instance, const model::PoolPolicy& pool) {
  const auto& record = instance.record;
  if (record.state == InstanceState::kRequested) return true;
  const bool comes =
      record.state == InstanceState::kBooting || record.state == InstanceState::kUnknown;
  return comes && (is_evidence_of_list(instance, pool) ||
                   (needs_link(instance, pool) && record.address.empty()));
}

bool ends_when_empty(const Instance& instance) {
  return instance.record.health == Health::kBroken && instance.empty() &&
         !instance.record.restored && instance.record.idle_behavior != model::IdleBehavior::kHold;
}

bool ends_as_used(const Instance& instance, const model::PoolPolicy& pool) {
  const auto& record = instance.record;
  const bool was_ready = record.state == InstanceState::kIdle ||
                         record.state == InstanceState::kBusy ||
                         record.state == InstanceState::kStopped;
  return was_ready && instance.empty() && !record.restored &&
         record.idle_behavior != model::IdleBehavior::kHold && is_used_up(record, pool);
}

Outcome end_as_used(Instance& instance, const model::PoolPolicy& pool, Now now) {
  return terminate(instance, Reason::kUsedUp, uses_text(instance.record, pool), now);
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

void become_ready_without_agent(Instance& instance, const model::PoolPolicy& pool, Outcome& out,
                                Now now) {
  become_ready(instance, out, now);
  if (ends_as_used(instance, pool)) out = end_as_used(instance, pool, now);
}

Outcome reported(Instance& instance, const std::string& actor, const model::PoolPolicy& pool,
                 Now now) {
  Outcome out;
  if (!takes_report(instance) || evidence_of(instance, pool) != Readiness::kReported) return out;
  become_ready_without_agent(instance, pool, out, now);
  if (out.event == Event::kReady || out.event == Event::kReachable)
    instance.record.reason = out.reason = "reported by " + actor;
  return out;
}

bool takes_report(const Instance& instance) {
  const auto state = instance.record.state;
  return state == InstanceState::kBooting || state == InstanceState::kUnknown ||
         state == InstanceState::kIdle || state == InstanceState::kBusy;
}

}  // namespace hostler::fleet

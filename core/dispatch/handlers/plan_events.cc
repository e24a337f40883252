#include "core/dispatch/handlers/plan_events.h"

#include <utility>

namespace hostler::dispatch {

using model::InstanceState;

void PlanEvents::send_due(Now now) {
  if (!plan_.is_due(now.mono)) return;
  auto [snapshot, wake] = snapshots_.make(now);
  const std::uint64_t number = plan_.begin(now.mono, wake);
  recorder_.effect(MakePlan{number, std::move(snapshot), plan_.policy()});
}

void PlanEvents::refresh_views() {
  if (hosts_.refresh_views(viewer_)) plan_.want();
}

void PlanEvents::on(PlanMade& event, Now now) {
  if (!plan_.end(event.number)) return;
  apply_plan(event.plan, now);
  // Creates that a rate ceiling has refused may pass then.
  if (const auto next = governor_.next_create(now.mono)) plan_.wake_at(*next);
  plan_.explain(std::move(event.plan.waiting), std::move(event.plan.rejected));
  // The changes of a plan are no reason for another one, and changes since its snapshot have asked
  // for one. Shutdowns are an exception: a ceiling bounds those of one decision, and the rest are
  // left to the next.
  const bool wanted = plan_.is_wanted() || !event.plan.shutdowns.empty();
  refresh_views();
  plan_.set_wanted(wanted);
}

void PlanEvents::apply_plan(scheduler::Plan& plan, Now now) {
  governor_.begin_decision();
  for (const auto& one : plan.places) apply(one, now);
  for (const auto& one : plan.shutdowns) apply(one, now);
  hosts_.clear_reservations();
  for (const auto& one : plan.reservations) hosts_.reserve(one.host, one.cls);
  for (auto& one : plan.wakes) power_.apply(std::move(one), now);
  power_.apply(plan.switch_offs, now);  // After the wakes, which make room for them.
  for (const auto& one : plan.creates) creates_.apply(one, now);
}

void PlanEvents::apply(const scheduler::Place& place, Now now) {
  Host* host = hosts_.change(place.host);
  if (host == nullptr) return;
  for (std::uint32_t i = 0; i < place.count; ++i)
    if (!attempts_.place(*host, place.cls, now)) break;
  steps_.apply(*host, fleet::work_changed(host->instance, now), "scheduler", now);
}

void PlanEvents::apply(const scheduler::Shutdown& shutdown, Now now) {
  Host* host = hosts_.change(shutdown.host);
  if (host == nullptr || !still_holds(shutdown, *host, now)) return;
  auto& instance = host->instance;
  if (!governor_.refuses_destroy(instance.set, instance.pool).empty()) return plan_.want();
  governor_.destroy_decided(instance.set, instance.pool);
  steps_.apply(
      *host, fleet::terminate(instance, scheduler::reason_of(shutdown.code), shutdown.reason, now),
      "scheduler", now);
}

bool PlanEvents::still_holds(const scheduler::Shutdown& shutdown, const Host& host, Now now) const {
  using enum scheduler::ShutdownCode;
  const auto& instance = host.instance;
  const auto state = instance.record.state;
  const auto& pool = policy_.pools[instance.pool];
  if (instance.record.idle_behavior == model::IdleBehavior::kHold) return false;
  if (state == InstanceState::kTerminating || state == InstanceState::kAbandoned ||
      state == InstanceState::kVanished || sets_.at(instance.set).spares(instance))
    return false;
  if (instance.record.restored) return false;
  if (shutdown.code == kUnreachable)
    return instance.unreachable_since &&
           now.mono - *instance.unreachable_since >= pool.probe_timeout;
  if (!instance.empty()) return false;
  switch (shutdown.code) {
    case kUnwantedSpot:
      return instance.unfulfilled_spot;
    case kIdle:
      return state == InstanceState::kIdle && now.mono - instance.since >= pool.idle_timeout;
    case kDrained:
      return instance.record.idle_behavior == model::IdleBehavior::kDrain;
    case kBootingSurplus:
      return state == InstanceState::kRequested || state == InstanceState::kBooting;
    case kFailed:
    case kStandbySurplus:
      return state == InstanceState::kStopped;
    case kUnreachable:
      break;
  }
  return false;
}

}  // namespace hostler::dispatch

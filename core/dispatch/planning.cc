#include <algorithm>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// Plans, asked for and applied to a world that may have moved on.
namespace hostler::dispatch {

using model::InstanceState;

namespace {

constexpr std::size_t kRejectedMax = 32;  ///< Kept of a class, for `why`.

}  // namespace

void Dispatcher::plan(Now now) {
  plan_wanted_ = false;
  planning_ = true;
  out_.effects.emplace_back(MakePlan{++plan_number_, snapshot(now), plan_policy_});
  plan_not_before_ = now.mono + policy_.plan_interval;
}

void Dispatcher::on(PlanMade& event, Now now) {
  if (event.number != plan_number_) return;
  planning_ = false;
  governor_.begin_decision();
  for (const auto& one : event.plan.places) carry_out(one, now);
  for (const auto& one : event.plan.shutdowns) carry_out(one, now);
  for (const auto id : std::exchange(reserved_, {}))
    if (Host* free = change(id)) free->reserved_for.reset();
  for (const auto& reserve : event.plan.reservations)
    if (Host* chosen = change(reserve.host)) {
      chosen->reserved_for = reserve.cls;
      reserved_.push_back(reserve.host);
    }
  for (auto& one : event.plan.wakes) carry_out(std::move(one), now);
  carry_out(event.plan.switch_offs, now);  // After the wakes, which make room for them.
  for (const auto& one : event.plan.creates) carry_out(one, now);
  // What these left no room for may be created then.
  if (const auto next = governor_.next_create(now.mono)) plan_wake_ = std::min(plan_wake_, *next);
  waiting_.clear();
  for (auto& one : event.plan.waiting) waiting_[one.cls] = std::move(one);
  rejected_.clear();
  for (auto& one : event.plan.rejected) {
    auto& list = rejected_[one.cls];
    if (list.size() < kRejectedMax) list.push_back(std::move(one));
  }
  // What a plan changes is no reason for another, and what changed since its snapshot has asked for
  // one. Except after shutdowns: a ceiling bounds those of one decision, the rest are the next's.
  const bool wanted = plan_wanted_ || !event.plan.shutdowns.empty();
  look_at_touched();
  plan_wanted_ = wanted;
}

void Dispatcher::carry_out(const scheduler::Place& of, Now now) {
  Host* chosen = change(of.host);
  if (chosen == nullptr) return;
  for (std::uint32_t i = 0; i < of.count; ++i)
    if (!place(*chosen, of.cls, now)) break;
  settle(*chosen, fleet::work_changed(chosen->instance, now), "scheduler", now);
}

void Dispatcher::carry_out(const scheduler::Shutdown& shutdown, Now now) {
  Host* chosen = change(shutdown.host);
  if (chosen == nullptr || !still_holds(shutdown, *chosen, now)) return;
  auto& instance = chosen->instance;
  if (!governor_.refuses_destroy(instance.set, instance.pool).empty()) return plan_soon();
  governor_.destroy_decided(instance.set, instance.pool);
  settle(*chosen,
         fleet::terminate(instance, scheduler::reason_of(shutdown.code), shutdown.reason, now),
         "scheduler", now);
}

/// The world may have moved on since the snapshot: a host is never ended as work lands on it, nor
/// against a hold, nor for what is not so any more.
bool Dispatcher::still_holds(const scheduler::Shutdown& shutdown, const Host& host, Now now) const {
  using enum scheduler::ShutdownCode;
  const auto& instance = host.instance;
  const auto state = instance.record.state;
  const auto& pool = policy_.pools[instance.pool];
  if (instance.record.idle_behavior == model::IdleBehavior::kHold) return false;
  if (state == InstanceState::kTerminating || state == InstanceState::kAbandoned) return false;
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

#include "core/dispatch/state/host_viewer.h"

#include <algorithm>

#include "core/fleet/step.h"
#include "core/fleet/uses.h"

namespace hostler::dispatch {

using model::InstanceState;
using scheduler::AgentState;
using scheduler::HostPhase;

namespace {

HostPhase phase_of(const fleet::Instance& instance) {
  switch (instance.record.state) {
    case InstanceState::kRequested:
    case InstanceState::kBooting:
    case InstanceState::kUnknown:
      return HostPhase::kComing;
    case InstanceState::kIdle:
    case InstanceState::kBusy:
      return HostPhase::kReady;
    case InstanceState::kStopped:
      return HostPhase::kStopped;
    case InstanceState::kVanished:
      return instance.may_exist() ? HostPhase::kLingering : HostPhase::kLeaving;
    case InstanceState::kTerminating:
      return instance.ending.is_ignored() ? HostPhase::kLingering : HostPhase::kLeaving;
    case InstanceState::kAbandoned:
    case InstanceState::kGone:
      return HostPhase::kLeaving;
  }
  return HostPhase::kLeaving;
}

bool is_broken(const model::InstanceRecord& record) {
  return record.health == model::Health::kBroken;
}

}  // namespace

scheduler::HostView HostViewer::view(const Host& host) const {
  const auto& instance = host.instance;
  const auto& record = instance.record;
  scheduler::HostView out;
  out.id = record.id;
  out.offering = menu_.offering_of(instance);
  out.pool = instance.pool;
  out.phase = phase_of(instance);
  out.takes_work =
      instance.takes_work() && !fleet::is_used_up(record, policy_.pools[instance.pool]);
  out.busy = !instance.empty();
  // While its set is closed nobody can start or end a host that is off.
  out.kept =
      is_kept(host) || (out.phase == HostPhase::kStopped && !sets_.at(instance.set).is_open());
  // A broken one is no standby.
  out.can_stop = out.phase == HostPhase::kStopped
                     ? sets_.has_power(instance.set, record.market) && !is_broken(record)
                     : can_stop(instance.set, record.type, record.market);
  out.power_unknown = is_power_unknown(host);
  out.can_wake = can_wake(host);
  out.cordoned = instance.notices.is_cordoned();
  out.draining = record.idle_behavior == model::IdleBehavior::kDrain;
  out.adopted = record.state == InstanceState::kUnknown;
  out.unfulfilled_spot = instance.listing.is_unfulfilled_spot();
  out.unseen = sets_.at(instance.set).lists.is_overdue() &&
               fleet::awaits_list(instance, policy_.pools[instance.pool]);
  if (instance.type) out.total = room_of(instance);
  if (instance.type) add_cards(instance, out);
  out.free = out.total - instance.occupancy.used();
  out.jobs_max = jobs_max(instance);
  out.attempts_left = attempts_left(instance);
  if (instance.occupancy.is_lent()) {
    out.free = {};
    out.cards = {};
    out.attempts_left = 0;
  }
  out.price_per_hour = record.price_per_hour;
  out.created = instance.creating.decided_at();
  if (out.phase == HostPhase::kReady && !out.busy) out.since = instance.since;
  out.unreachable_since = instance.link.unreachable_since();
  out.reserved_for = host.reserved_for;
  if (out.is_on()) out.load = host.made_for.load();
  // Whoever may get the work of a host that no list shows, the host itself is kept until one does.
  out.work_cancelled =
      out.phase == HostPhase::kComing &&
      (host.made_for.is_cancelled() || (host.made_for.is_released() && !out.unseen));
  out.for_exchange = host.made_for.is_for_exchange();
  if (record.drain_began.us != 0)
    out.drain = record.drain_over ? scheduler::DrainPhase::kOver : scheduler::DrainPhase::kUnderWay;
  out.ends = record.state == InstanceState::kTerminating && out.phase == HostPhase::kLeaving;
  if (policy_.pools[instance.pool].pushed && out.is_on()) add_agent(instance, out);
  return out;
}

void HostViewer::add_agent(const fleet::Instance& instance, scheduler::HostView& out) {
  const auto& outside = instance.link.outside;
  out.agent = agent_state_of(instance);
  out.was_listed = instance.record.agent != model::AgentReport::kNone;
  out.agent_since = outside.lost_since().value_or(outside.since().value_or(instance.since));
  out.phase = out.agent == AgentState::kComing ? HostPhase::kComing : HostPhase::kReady;
  out.takes_work = out.takes_work && out.agent == AgentState::kComing;
  out.busy = out.busy || out.agent == AgentState::kBusy;
  if (out.phase == HostPhase::kReady && !out.busy) out.since = out.agent_since;
  out.load.clear();
  out.work_cancelled = false;
}

scheduler::AgentState agent_state_of(const fleet::Instance& instance) {
  switch (instance.record.agent) {
    case model::AgentReport::kIdle:
      return AgentState::kIdle;
    case model::AgentReport::kBusy:
      return AgentState::kBusy;
    case model::AgentReport::kNone:
    case model::AgentReport::kMissing:
      break;
  }
  return instance.link.outside.lost_since() ? AgentState::kLost : AgentState::kComing;
}

const char* agent_text(const fleet::Instance& instance) {
  const auto phase = phase_of(instance);
  if (phase == HostPhase::kStopped) return "off";
  if (phase != HostPhase::kComing && phase != HostPhase::kReady) return "leaving";
  switch (agent_state_of(instance)) {
    case AgentState::kIdle:
      return "idle";
    case AgentState::kBusy:
      return "busy";
    case AgentState::kLost:
      return "lost";
    case AgentState::kComing:
    case AgentState::kNone:
      break;
  }
  return "coming";
}

bool HostViewer::is_power_unknown(const Host& host) const {
  const auto& instance = host.instance;
  const auto& record = instance.record;
  const Set& set = sets_.at(instance.set);
  const bool was_open = set.opening.was_open();
  if (phase_of(instance) != HostPhase::kStopped)
    return !was_open && record.market == model::Market::kOnDemand &&
           !menu_.refuses_stop(instance.set, record.type);
  const bool may_have_power = was_open ? sets_.has_power(instance.set, record.market)
                                       : record.market == model::Market::kOnDemand;
  return !set.is_open() && may_have_power && !is_kept(host) && !is_broken(record);
}

bool HostViewer::is_kept(const Host& host) const {
  const auto& record = host.instance.record;
  return record.idle_behavior == model::IdleBehavior::kHold || record.restored ||
         sets_.at(host.instance.set).spares(host.instance);
}

std::int32_t HostViewer::jobs_max(const fleet::Instance& instance) const {
  if (!instance.type || sets_.at(instance.set).is_stopped()) return 0;
  return model::jobs_max_of(policy_.pools[instance.pool], policy_.types[*instance.type]);
}

std::int32_t HostViewer::attempts_left(const fleet::Instance& instance) const {
  const auto active = static_cast<std::int32_t>(instance.occupancy.active_attempts());
  return std::min(std::max(0, jobs_max(instance) - active),
                  fleet::uses_left(instance.record, policy_.pools[instance.pool]));
}

model::Resources HostViewer::room_of(const fleet::Instance& instance) const {
  const auto& type = policy_.types[*instance.type];
  auto out = instance.occupancy.room_of(type);
  if (!instance.occupancy.reported_scratch() && instance.empty())
    out.scratch = menu_.scratch().expected(instance.set, type.name, out.scratch);
  if (!instance.occupancy.reported_ram() && instance.empty())
    out.ram = model::ram_for_jobs(menu_.ram().expected(policy_.sets[instance.set].name, type),
                                  type.reserve);
  if (!instance.occupancy.cards().has_told() && instance.empty())
    out.gpus = menu_.gpus().expected(policy_.sets[instance.set].name, type).count;
  return out;
}

void HostViewer::add_cards(const fleet::Instance& instance, scheduler::HostView& out) const {
  const auto& type = policy_.types[*instance.type];
  if (type.resources.gpus == 0) return;
  const auto expected = menu_.gpus().expected(policy_.sets[instance.set].name, type).groups;
  const auto& occupancy = instance.occupancy;
  const bool is_expected = !occupancy.cards().has_told() && instance.empty();
  auto groups = is_expected ? expected : fleet::healthy_groups(occupancy.cards(), type);
  if (groups.size() > 1 || type.gpu_groups.size() > 1)
    out.cards = is_expected ? expected : occupancy.free_groups(type);
  // Without kinds on the menu only a host that has told its cards has any.
  const bool says_more = type.gpu_groups.empty() ? occupancy.cards().are_known()
                                                 : groups != expected || groups != type.gpu_groups;
  if (says_more) out.gpus = std::move(groups);
}

bool HostViewer::can_wake(const Host& host) const {
  const auto& instance = host.instance;
  const Set& set = sets_.at(instance.set);
  return instance.record.state == InstanceState::kStopped && instance.power.was_seen_off() &&
         !instance.notices.is_cordoned() && !is_broken(instance.record) &&
         instance.record.idle_behavior == model::IdleBehavior::kRun && !host.calls.switches() &&
         set.is_open() && !set.is_stopped() && !set.shown.foreign && !set.lists.is_overdue() &&
         sets_.has_power(instance.set, instance.record.market);
}

}  // namespace hostler::dispatch

#include <algorithm>

#include "core/fleet/transition.h"

/// Steps for what an outside scheduler says of its agent on the host.
namespace hostler::fleet {
namespace {

using model::AgentReport;
using model::Event;
using model::InstanceState;

bool is_listing(AgentReport report) {
  return report == AgentReport::kIdle || report == AgentReport::kBusy;
}

/// One that was switched on again, or whose spot request was fulfilled late, is awaited anew.
Mono awaited_until(const Instance& instance, const model::PushedPolicy& pushed) {
  const bool is_anew = instance.record.agent == AgentReport::kNone && instance.link.outside.since();
  return (is_anew ? *instance.link.outside.since() : instance.creating.decided_at()) +
         pushed.starting;
}

}  // namespace

bool has_had_agent(const Instance& instance) { return instance.record.agent != AgentReport::kNone; }

bool may_have_agent(const Instance& instance) {
  return instance.record.state == InstanceState::kRequested || takes_report(instance);
}

bool runs_tasks(const Instance& instance, const model::PoolPolicy& pool) {
  return pool.pushed && instance.record.agent == AgentReport::kBusy;
}

Outcome agent_reported(Instance& instance, AgentReport report, const std::string& actor,
                       const model::PoolPolicy& pool, Now now) {
  Outcome out;
  auto& record = instance.record;
  if (!pool.pushed || !may_have_agent(instance)) return out;
  if (!is_listing(report) && record.agent == AgentReport::kNone) return out;
  if (is_listing(report)) {
    out = reported(instance, actor, pool, now);
    if (out.event == Event::kTerminating) return out;
    if (work_is_known(instance)) out.changed = true;
  }
  if (record.agent == report) return out;
  record.agent = report;
  record.agent_since = now.wall;
  instance.link.outside.changed(now.mono);
  watch_agent(instance, pool, now);
  out.changed = true;
  if (out.event) return out;
  out.event = Event::kAgentReported;
  out.reason_code = model::to_string(report);
  return out;
}

void watch_agent(Instance& instance, const model::PoolPolicy& pool, Now now) {
  auto& agent = instance.link.outside;
  if (!pool.pushed || !may_have_agent(instance)) return agent.end();
  if (is_listing(instance.record.agent)) return agent.listed();
  if (instance.listing.is_unfulfilled_spot()) return agent.await(kNever);
  const Mono until = awaited_until(instance, *pool.pushed);
  if (now.mono < until) return agent.await(until);
  const bool is_missing = instance.record.agent == AgentReport::kMissing;
  agent.lost(is_missing ? std::max(until, agent.since().value_or(until)) : until);
}

void await_after_silence(Instance& instance, const model::PoolPolicy& pool, Now now) {
  auto& agent = instance.link.outside;
  if (!agent.lost_since()) return;
  const auto& pushed = *pool.pushed;
  agent.lost(now.mono - std::max(Duration::zero(), pushed.disconnected - pushed.shrink_after));
}

Outcome agent_due(Instance& instance, const model::PoolPolicy& pool, Now now) {
  Outcome out;
  watch_agent(instance, pool, now);
  if (!instance.link.outside.lost_since() || instance.record.agent != AgentReport::kNone)
    return out;
  out.event = Event::kAgentNeverCame;
  out.reason = "no push of pool " + pool.name + " has listed its agent";
  return out;
}

Outcome agent_forgotten(Instance& instance, const model::PoolPolicy& pool, Now now) {
  Outcome out;
  if (instance.record.agent == AgentReport::kNone) return out;
  forget_agent(instance);
  watch_agent(instance, pool, now);
  out.changed = true;
  return out;
}

void restore_agent(Instance& instance, const model::PoolPolicy& pool, Now now) {
  const auto& record = instance.record;
  if (!pool.pushed) return;
  if (record.agent_since.us != 0) {
    // A clock that jumped must not make it older than the host.
    const Duration age = std::max(Duration::zero(), now.mono - instance.creating.decided_at());
    Duration passed = std::clamp(now.wall - record.agent_since, Duration::zero(), age);
    // A host without agent does not go before pushes have had time to list it.
    const Duration most =
        std::max(Duration::zero(), pool.pushed->disconnected - pool.pushed->max_age);
    if (record.agent == AgentReport::kMissing) passed = std::min(passed, most);
    instance.link.outside.changed(now.mono - passed);
  }
  watch_agent(instance, pool, now);
}

void await_agent_anew(Instance& instance, const model::PoolPolicy& pool, Now now) {
  if (!pool.pushed) return;
  instance.record.agent_since = now.wall;
  instance.link.outside.changed(now.mono);
  watch_agent(instance, pool, now);
}

void forget_agent(Instance& instance) {
  instance.record.agent = AgentReport::kNone;
  instance.record.agent_since = {};
  instance.link.outside.end();
}

}  // namespace hostler::fleet

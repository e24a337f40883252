#include "core/dispatch/queries/push_views.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/dispatch/queries.h"
#include "core/dispatch/queries/conditions.h"
#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

std::int32_t slots_of(const State& state, const fleet::Instance& instance) {
  return instance.type ? state.policy.types[*instance.type].resources.slots : 0;
}

/// The last of all gates that creates of the pool have shut and none has opened since.
std::optional<model::LaunchErrorView> launch_error(const State& state, std::uint32_t pool) {
  std::optional<model::LaunchErrorView> out;
  for (const auto& offering : state.menu.offerings()) {
    if (offering.pool != pool) continue;
    const auto query = state.gates.create_query(offering);
    for (const auto& [key, gate] : state.gates.all()) {
      const auto& record = gate.record;
      if (record.until.us == 0 || (out && out->until >= record.until)) continue;
      if (gates::holds(record, query))
        out = model::LaunchErrorView{record.since, record.until, record.failures, record.message};
    }
  }
  return out;
}

model::PushedHostView view_of(const State& state, const PushedPool& pushed, const Host& host,
                              Now now) {
  const auto& instance = host.instance;
  const auto& record = instance.record;
  const auto& policy = *state.policy.pools[instance.pool].pushed;
  model::PushedHostView out;
  out.instance = record.id;
  out.agent = agent_name(record, policy.agent_name);
  out.state = agent_text(instance);
  out.since = record.agent_since;
  if (const auto lost = instance.link.outside.lost_since())
    out.since = now.wall + (*lost - now.mono);
  out.slots = slots_of(state, instance);
  out.is_going = pushed.handshake.is_going(record.id);
  out.is_acknowledged = pushed.handshake.is_acknowledged(record.id);
  if (const auto going = pushed.going.find(record.id); going != pushed.going.end())
    out.reason = going->second.reason;
  else if (!fleet::may_have_agent(instance))
    out.reason = record.reason;
  return out;
}

/// As of the last push: hosts that have been idle and to go for so long that the scheduler seems to
/// know of no promise.
std::vector<model::InstanceId> not_acknowledged(const State& state, const PushedPool& pushed,
                                                const model::PushedPolicy& policy) {
  std::vector<model::InstanceId> out;
  for (const auto& [id, going] : pushed.going) {
    const Host* host = state.hosts.find(id);
    if (host != nullptr && host->instance.record.agent == model::AgentReport::kIdle &&
        pushed.heard - going.since > policy.shrink_after && !pushed.handshake.is_acknowledged(id))
      out.push_back(id);
  }
  return out;
}

}  // namespace

std::string problem_of_pushes(const State& state, std::uint32_t pool) {
  const PushedPool* pushed = state.pushes.find(pool);
  const auto& policy = state.policy.pools[pool].pushed;
  if (pushed == nullptr || !policy) return {};
  if (pushed->silence == Silence::kAbandoned)
    return "no push for " + format_duration(policy->abandoned_after) + ": its hosts go";
  if (!pushed->is_heard)
    return "no push since the start: its hosts stay as they are, and only its minimum is created";
  const auto& bounds = state.bounds.by_pool();
  if (pool >= bounds.size()) return {};
  const bool is_old = std::ranges::any_of(bounds[pool], [](const scheduler::Bound& bound) {
    return bound.source == scheduler::kPushedSource && !bound.number;
  });
  if (!is_old) return {};
  return "the last push is older than " + format_duration(policy->max_age) +
         ": its hosts stay as they are, and only its minimum is created; see whether its "
         "scheduler runs";
}

std::vector<std::string> conditions_of_pushes(const State& state, std::uint32_t pool) {
  std::vector<std::string> out;
  const PushedPool* pushed = state.pushes.find(pool);
  const auto& policy = state.policy.pools[pool].pushed;
  if (pushed == nullptr || !policy) return out;
  if (auto problem = problem_of_pushes(state, pool); !problem.empty())
    out.push_back(std::move(problem));
  if (pushed->silence == Silence::kLong)
    out.push_back("its scheduler has been silent for long: all its hosts go " +
                  format_duration(policy->abandoned_after) + " after its last push");
  std::vector<model::InstanceId> never_came;
  for (const auto& [id, host] : state.hosts.all())
    if (host.instance.pool == pool && fleet::may_have_agent(host.instance) &&
        host.instance.record.agent == model::AgentReport::kNone &&
        host.instance.link.outside.lost_since())
      never_came.push_back(id);
  if (const auto quiet = not_acknowledged(state, *pushed, *policy); !quiet.empty())
    out.push_back("its scheduler has been told for long that " + names_of(quiet) +
                  " go, and has not said that nothing runs there: see whether it sends `seen`");
  if (const auto& tasks = pushed->demand.never_fits; !tasks.empty())
    out.push_back("no host of it can ever run " + printable(tasks.front().id, 60) +
                  (tasks.size() == 1 ? "" : " and other tasks") +
                  ": its scheduler is told how many slots would do");
  if (!never_came.empty())
    out.push_back("no push has listed the agents of " + names_of(never_came) +
                  ": see what starts them there (hostler why " + never_came.front().text() + ")");
  return out;
}

std::string condition_of_agent(const State& state, const Host& host, Now now) {
  const auto& instance = host.instance;
  const PushedPool* pushed = state.pushes.find(instance.pool);
  if (pushed == nullptr || !fleet::may_have_agent(instance)) return {};
  const auto id = host.id();
  if (const auto going = pushed->going.find(id); going != pushed->going.end()) {
    const std::string text = "it is to go: " + going->second.reason;
    if (pushed->handshake.is_acknowledged(id)) return text + "; its scheduler knows";
    return text + "; its scheduler has been told for " +
           format_duration(now.mono - going->second.since) +
           ", and has not said that nothing runs there";
  }
  const auto lost = instance.link.outside.lost_since();
  if (!lost) return {};
  const bool was_listed = instance.record.agent != model::AgentReport::kNone;
  return (was_listed ? "its scheduler has lost its agent there"
                     : "its scheduler has never had an agent there") +
         std::string(", and it takes no tasks: it goes ") +
         format_duration(state.policy.pools[instance.pool].pushed->disconnected) + " after " +
         format_wall(now.wall + (*lost - now.mono));
}

Result<model::ScalingInfoView> Queries::scaling_info(const std::string& name, Now now) const {
  const auto& pools = state_.policy.pools;
  const auto found = std::ranges::find(pools, name, &model::PoolPolicy::name);
  if (found == pools.end())
    return fail(Errc::kNotFound, "there is no pool '" + printable(name, 60) + "'");
  const auto index = static_cast<std::uint32_t>(found - pools.begin());
  const PushedPool* pushed = state_.pushes.find(index);
  if (pushed == nullptr)
    return fail(Errc::kNotFound, "pool " + name + " is not sized by an outside scheduler");
  model::ScalingInfoView out;
  out.pool = name;
  out.pusher.principal = pushed->pusher.record().principal;
  out.pusher.session = pushed->pusher.record().session;
  out.pusher.sequence = pushed->pusher.sequence();
  out.pusher.answer = pushed->handshake.last();
  if (pushed->is_heard) out.pusher.age = now.mono - pushed->heard;
  out.problem = problem_of_pushes(state_, index);
  std::set<std::int32_t> sizes;
  std::set<std::string> types;
  for (const auto& offering : state_.menu.offerings()) {
    if (offering.pool != index) continue;
    sizes.insert(state_.policy.types[offering.type].resources.slots);
    types.insert(state_.policy.types[offering.type].name);
  }
  out.slots_per_instance.assign(sizes.begin(), sizes.end());
  out.instance_types.assign(types.begin(), types.end());
  out.launch_error = launch_error(state_, index);
  out.tasks = pushed->last.tasks;
  out.desired_new = pushed->last.desired_new;
  out.never_fits = pushed->demand.never_fits;
  out.unknown_agents = pushed->unknown_agents;
  for (const auto& [id, host] : state_.hosts.all()) {
    if (host.instance.pool != index) continue;
    out.instances.push_back(view_of(state_, *pushed, host, now));
    if (fleet::may_have_agent(host.instance)) out.current_slots += slots_of(state_, host.instance);
  }
  return out;
}

std::vector<PushStatus> Queries::pushes(Now now) const {
  std::vector<PushStatus> out;
  for (const auto& [index, pushed] : state_.pushes.all()) {
    auto& status = out.emplace_back();
    status.pool = state_.policy.pools[index].name;
    if (pushed.is_heard) status.age = now.mono - pushed.heard;
    status.tasks = pushed.demand.tasks;
    status.going = pushed.going.size();
  }
  return out;
}

}  // namespace hostler::dispatch

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/planning/readers.h"
#include "core/planning/words.h"
#include "core/pushed/check_push.h"
#include "core/pushed/demand.h"
#include "core/scheduler/agents.h"

/// Pools that an outside scheduler sizes: its last push, what that asks for, and its agents.
namespace hostler::planning {
namespace {

constexpr json::TextRule kName{.bytes_max = model::kPushedNameMax, .bytes_min = 1};

void read_tasks(const json::Field& field, std::vector<model::PushedTask>& out) {
  field.each(model::kPushedTasksMax, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      model::PushedTask& task = out.emplace_back();
      o.need("id").text(task.id, kName);
      o.need("slots").integer(task.slots, 0, model::kSlotsMax);
      o.may("group").text(task.group, kName);
    });
  });
}

/// The slots that hosts of the pool have, ascending.
std::vector<std::int32_t> sizes_of(const scheduler::Snapshot& snapshot, std::uint32_t pool) {
  std::set<std::int32_t> sizes;
  for (const auto& offering : snapshot.offerings)
    if (offering.pool == pool) sizes.insert(offering.resources.slots);
  return {sizes.begin(), sizes.end()};
}

void add_classes(const model::Push& push, std::uint32_t pool, Draft& draft) {
  const model::PoolPolicy& policy = draft.out.policy.pools[pool];
  const auto demand =
      pushed::demand_of(push, sizes_of(draft.out.snapshot, pool), policy.name, *policy.pushed);
  for (const pushed::TaskClass& tasks : demand.classes) {
    demand::ClassView view;
    view.id = draft.work.empty() ? 1 : *draft.work.rbegin() + 1;
    view.kind = model::WorkKind::kTask;
    view.shape = tasks.shape;
    view.count = tasks.count;
    view.displaced = true;
    draft.work.insert(view.id);
    draft.out.snapshot.classes.push_back(std::move(view));
  }
}

void take_push(const LastPush& last, std::uint32_t pool, const json::Field& field, Draft& draft) {
  auto& snapshot = draft.out.snapshot;
  const auto is_said = [](const scheduler::Bound& bound) {
    return bound.source == scheduler::kPushedSource;
  };
  if (std::ranges::any_of(snapshot.bounds[pool], is_said))
    field.problem("pool \"" + draft.out.policy.pools[pool].name +
                  "\" has `push` and a bound of source \"pushed\", allowed: one of the two");
  const auto bounds = scheduler::bounds_of_push(kNow - last.age,
                                                *draft.out.policy.pools[pool].pushed, snapshot.now);
  snapshot.bounds[pool].insert(snapshot.bounds[pool].end(), bounds.begin(), bounds.end());
  add_classes(last.push, pool, draft);
}

/// No push has listed its agent.
void suppose_agent(const model::PushedPolicy& pushed, scheduler::HostView& out) {
  if (out.busy) {
    out.agent = scheduler::AgentState::kBusy;
    return;
  }
  const auto its = scheduler::without_agent(out.created, {}, pushed, kNow);
  const bool is_coming = out.unfulfilled_spot || its.state == scheduler::AgentState::kComing;
  out.agent = is_coming ? scheduler::AgentState::kComing : its.state;
  out.agent_since = is_coming ? kNow : its.since;
  out.phase = is_coming ? scheduler::HostPhase::kComing : scheduler::HostPhase::kReady;
}

}  // namespace

void read_push(const json::Field& field, const model::PoolPolicy& pool,
               std::optional<LastPush>& out) {
  LastPush last;
  last.push.session = "snapshot";
  const bool read = field.object([&](json::Object& o) {
    o.may("age").duration(last.age, Duration{}, kLongest);
    read_tasks(o.may("tasks"), last.push.tasks);
    std::int64_t desired = 0;
    if (o.may("desired_new").integer(desired, 0, model::kSlotsMax)) last.push.desired_new = desired;
    o.may("group_max")
        .members(model::kPushedTasksMax, [&](std::string_view group, const json::Field& max) {
          max.integer(last.push.group_max[std::string(group)], 0, INT64_MAX);
        });
  });
  if (!read) return;
  if (!pool.pushed)
    field.problem("pool \"" + pool.name + "\" has no `pushed`, allowed: `push` beside it only");
  if (const auto good = pushed::check_push(last.push); !good)
    field.problem(good.error().path + ": " + good.error().message, good.error().code);
  if (pool.pushed) out = std::move(last);
}

void read_agent(json::Object& o, const model::PoolPolicy& pool, scheduler::HostView& out) {
  using enum scheduler::AgentState;
  const json::Field agent = o.may("agent"), agent_for = o.may("agent_for");
  if (!pool.pushed) {
    agent.problem("pool \"" + pool.name + "\" has no `pushed`, allowed: no agent");
    agent_for.problem("pool \"" + pool.name + "\" has no `pushed`, allowed: no agent");
    return;
  }
  if (!out.is_on()) {
    agent.problem("the host is neither coming nor ready, allowed: no agent");
    return;
  }
  if (!agent.present()) return suppose_agent(*pool.pushed, out);
  agent.word(out.agent, kAgentStates);
  out.agent_since = out.agent == kIdle ? out.since : kNow;
  read_age(agent_for, out.agent_since);
  const bool is_there = out.agent == kIdle || out.agent == kBusy;
  if (!o.may("was_listed").present()) out.was_listed = is_there;
  if (out.agent != kComing && out.phase == scheduler::HostPhase::kComing)
    agent.refuse("\"coming\", as the phase is coming");
  if (out.agent == kComing) out.phase = scheduler::HostPhase::kComing;
  if (out.busy && out.agent != kBusy) o.may("busy").refuse("false, as its agent is not busy");
  out.busy = out.agent == kBusy;
}

void take_pushes(const json::Field& pools, Draft& draft) {
  auto& question = draft.out;
  question.snapshot.bounds.resize(question.policy.pools.size());
  const std::size_t before = question.snapshot.classes.size();
  for (std::uint32_t p = 0; p < question.pushes.size() && p < question.policy.pools.size(); ++p)
    if (question.pushes[p]) take_push(*question.pushes[p], p, pools, draft);
  auto& classes = question.snapshot.classes;
  if (classes.size() == before) return;
  check_pairs(pools, draft);
  std::ranges::stable_sort(classes, std::ranges::greater{},
                           [](const demand::ClassView& view) { return view.shape.priority; });
}

}  // namespace hostler::planning

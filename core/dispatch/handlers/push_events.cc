#include "core/dispatch/handlers/push_events.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::dispatch {

using model::AgentReport;

namespace {

constexpr std::size_t kNeverFitsTold = 1000;  ///< Tasks that an answer names.
constexpr auto kLeftTasks =
    "an outside scheduler may run tasks there, and its pool has no `pushed` any more";
constexpr std::size_t kNameShown = 60;  ///< Bytes of what a pusher has chosen, in texts.

/// Hosts by what their scheduler calls its agents there. Several may have one name for a while, as
/// addresses are used again: what is said is said of each, so that none is taken for idle.
using AgentIndex = std::unordered_multimap<std::string, model::InstanceId>;

/// The slots of the types of the pool, ascending, each once.
std::vector<std::int32_t> sizes_of(const Menu& menu, const model::SitePolicy& policy,
                                   std::uint32_t pool) {
  std::set<std::int32_t> out;
  for (const auto& offering : menu.offerings())
    if (offering.pool == pool) out.insert(policy.types[offering.type].resources.slots);
  return {out.begin(), out.end()};
}

std::string shown(const std::string& name) { return printable(name, kNameShown); }

}  // namespace

void PushEvents::restore(const std::vector<model::PusherRecord>& pushers, Now now) {
  for (const auto& row : pushers) rows_[row.pool] = row;
  policy_changed(now);
}

void PushEvents::policy_changed(Now now) {
  const auto& pools = owners_.policy.pools;
  leave_agents(now);
  for (std::uint32_t i = 0; i < pools.size(); ++i) {
    PushedPool* known = owners_.pushes.find(i);
    if (!pools[i].pushed && known == nullptr) continue;
    if (!pools[i].pushed) {
      forget_demand(*known);
      owners_.pushes.end(i);
      owners_.bounds.say(i, scheduler::kPushedSource, {});
    } else {
      if (known == nullptr) {
        const auto row = rows_.find(pools[i].name);
        auto pusher = row == rows_.end()
                          ? pushed::Pusher()
                          : pushed::Pusher(row->second, now.mono, pools[i].pushed->max_age);
        known = &owners_.pushes.begin(i, std::move(pusher),
                                      pushed::answers_base(owners_.recorder.epoch()), now.mono);
      }
      if (known->is_heard) count_demand(i, *known);
      known->times_changed(*pools[i].pushed, now.mono);
      owners_.bounds.say(i, scheduler::kPushedSource, known->bounds(*pools[i].pushed, now.mono));
    }
    look_at_hosts(i, now);
    owners_.plan.want();
  }
}

void PushEvents::look_at_hosts(std::uint32_t pool, Now now) {
  for (const auto id : hosts_of(pool)) {
    Host& host = *owners_.hosts.change(id);
    fleet::watch_agent(host.instance, owners_.policy.pools[pool], now);
    owners_.hosts.schedule(host);
  }
}

std::vector<model::InstanceId> PushEvents::hosts_of(std::uint32_t pool) const {
  std::vector<model::InstanceId> out;
  for (const auto& [id, host] : owners_.hosts.all())
    if (host.instance.pool == pool) out.push_back(id);
  return out;
}

void PushEvents::on(PushReceived& event, Now now) {
  const auto reply = [&](Result<model::PushAnswer> result) {
    owners_.recorder.effect(PushReply{event.ticket, std::move(result)});
  };
  const auto& pools = owners_.policy.pools;
  const auto found = std::ranges::find(pools, event.pool, &model::PoolPolicy::name);
  if (found == pools.end())
    return reply(fail(Errc::kNotFound, "there is no pool '" + shown(event.pool) + "'"));
  const auto pool = static_cast<std::uint32_t>(found - pools.begin());
  PushedPool* to = owners_.pushes.find(pool);
  if (to == nullptr)
    return reply(fail(Errc::kNotFound,
                      "pool " + found->name +
                          " is not sized by an outside scheduler: set pools[].pushed for it"));
  const auto& policy = *found->pushed;
  const auto is_new = to->pusher.take(event.principal, event.push, now.mono, policy.max_age);
  if (!is_new) return reply(tl::unexpected(is_new.error()));
  if (*is_new) {
    to->handshake.session_changed();
    auto record = to->pusher.record();
    record.pool = found->name;
    owners_.recorder.change(record);
    rows_[found->name] = record;
    owners_.recorder.record("user", "pool " + found->name, model::Event::kPusherChanged,
                            shown(record.session), "pushed by " + record.principal, now);
  }
  to->last = std::move(event.push);
  to->heard = now.mono;
  const bool is_first = !std::exchange(to->is_heard, true);
  to->silence = Silence::kNone;
  for (const auto& [id, name] : to->named)
    if (const Host* host = owners_.hosts.find(id);
        host != nullptr && agent_name(host->instance.record, policy.agent_name) != name)
      to->handshake.renamed(id);
  const Busy busy = take_agents(pool, event.principal, *to, now);
  if (is_first) await_agents(pool, now);
  to->handshake.pushed(to->last.seen, busy, too_old(pool, now));
  count_demand(pool, *to);
  owners_.bounds.say(pool, scheduler::kPushedSource, to->bounds(policy, now.mono));
  owners_.plan.want();
  tick(pool, *to, now);
  reply(answer(pool, *to));
}

PushEvents::Busy PushEvents::take_agents(std::uint32_t pool, const std::string& actor,
                                         PushedPool& to, Now now) {
  const auto name = owners_.policy.pools[pool].pushed->agent_name;
  const auto ids = hosts_of(pool);
  AgentIndex index;
  for (const auto id : ids)
    if (auto its = agent_name(owners_.hosts.find(id)->instance.record, name); !its.empty())
      index.emplace(std::move(its), id);
  to.unknown_agents.clear();
  Busy busy;
  std::set<model::InstanceId> listed;
  for (const auto& agent : to.last.agents) {
    const auto [first, last] = index.equal_range(agent.name);
    if (first == last) to.unknown_agents.push_back(agent.name);
    for (auto at = first; at != last; ++at) {
      listed.insert(at->second);
      if (!agent.is_idle) busy.insert(at->second);
    }
  }
  for (const auto id : ids)
    report(id,
           busy.contains(id)     ? AgentReport::kBusy
           : listed.contains(id) ? AgentReport::kIdle
                                 : AgentReport::kMissing,
           actor, now);
  return busy;
}

/// Hosts of which nothing is new are not looked at again.
void PushEvents::report(model::InstanceId id, AgentReport report, const std::string& actor,
                        Now now) {
  const auto& known = owners_.hosts.find(id)->instance;
  const bool is_same = known.record.agent == report || (report == AgentReport::kMissing &&
                                                        known.record.agent == AgentReport::kNone);
  const bool is_ready = known.record.state == model::InstanceState::kIdle ||
                        known.record.state == model::InstanceState::kBusy;
  const bool is_settled = is_ready && !known.record.restored;
  if (is_same && (is_settled || report == AgentReport::kMissing)) return;
  Host& host = *owners_.hosts.change(id);
  const auto& pool = owners_.policy.pools[host.instance.pool];
  auto outcome = fleet::agent_reported(host.instance, report, actor, pool, now);
  if (outcome.changed) steps_.apply(host, std::move(outcome), "user", now);
}

void PushEvents::forget_agent(model::InstanceId id, const char* actor, Now now) {
  Host& host = *owners_.hosts.change(id);
  const auto& pool = owners_.policy.pools[host.instance.pool];
  auto outcome = fleet::agent_forgotten(host.instance, pool, now);
  if (outcome.changed) steps_.apply(host, std::move(outcome), actor, now);
}

void PushEvents::leave_agents(Now now) {
  std::vector<model::InstanceId> left;
  for (const auto& [id, host] : owners_.hosts.all())
    if (host.instance.record.agent != AgentReport::kNone &&
        !owners_.policy.pools[host.instance.pool].pushed)
      left.push_back(id);
  for (const auto id : left) {
    if (owners_.hosts.find(id)->instance.record.agent == AgentReport::kBusy) {
      Host& busy = *owners_.hosts.change(id);
      steps_.apply(busy, fleet::hold(busy.instance, kLeftTasks, now), "user", now);
    }
    forget_agent(id, "user", now);
  }
}

void PushEvents::await_agents(std::uint32_t pool, Now now) {
  for (const auto id : hosts_of(pool))
    fleet::await_after_silence(owners_.hosts.change(id)->instance, owners_.policy.pools[pool], now);
}

std::set<model::InstanceId> PushEvents::too_old(std::uint32_t pool, Now now) const {
  std::set<model::InstanceId> out;
  const auto most = owners_.policy.pools[pool].pushed->lifetime_max;
  if (most == Duration::zero()) return out;
  for (const auto id : hosts_of(pool))
    if (now.mono - owners_.hosts.find(id)->instance.creating.decided_at() > most) out.insert(id);
  return out;
}

void PushEvents::count_demand(std::uint32_t pool, PushedPool& to) {
  const auto& policy = owners_.policy.pools[pool];
  to.demand = pushed::demand_of(to.last, sizes_of(owners_.menu, owners_.policy, pool), policy.name,
                                *policy.pushed);
  if (to.demand.never_fits.size() > kNeverFitsTold) to.demand.never_fits.resize(kNeverFitsTold);
  // Classes that stay keep their ids.
  std::vector<demand::ClassId> classes;
  for (const auto& one : to.demand.classes)
    classes.push_back(owners_.waiting.intern(one.shape, model::WorkKind::kTask));
  for (const auto cls : std::exchange(to.classes, std::move(classes))) owners_.waiting.release(cls);
}

void PushEvents::forget_demand(PushedPool& of) {
  of.demand = {};
  for (const auto cls : std::exchange(of.classes, {})) owners_.waiting.release(cls);
}

model::PushAnswer PushEvents::answer(std::uint32_t pool, PushedPool& to) const {
  const auto name = owners_.policy.pools[pool].pushed->agent_name;
  std::set<model::InstanceId> ending;
  for (const auto id : hosts_of(pool))
    if (!fleet::may_have_agent(owners_.hosts.find(id)->instance)) ending.insert(id);
  to.handshake.ending(ending);
  const auto named = to.handshake.answer();
  model::PushAnswer out;
  out.answer = named.number;
  to.named.clear();
  for (const auto id : named.going)
    if (const Host* host = owners_.hosts.find(id))
      if (auto its = agent_name(host->instance.record, name); !its.empty()) {
        out.going.push_back(its);
        to.named[id] = std::move(its);
      }
  out.unknown_agents = to.unknown_agents;
  out.never_fits = to.demand.never_fits;
  return out;
}

void PushEvents::planned(const scheduler::Plan& plan, Now now) {
  std::map<std::uint32_t, std::map<model::InstanceId, std::string>> wanted;
  const auto add = [&](const auto& one) {
    const Host* host = owners_.hosts.find(one.host);
    if (host != nullptr) wanted[host->instance.pool].emplace(one.host, one.reason);
  };
  for (const auto& one : plan.going) add(one);
  for (const auto& one : plan.shutdowns) add(one);
  for (const auto& [index, unused] : owners_.pushes.all()) {
    PushedPool& pool = *owners_.pushes.find(index);
    const auto& named = wanted[index];
    std::set<model::InstanceId> ids;
    std::erase_if(pool.going, [&](const auto& entry) { return !named.contains(entry.first); });
    const auto name = owners_.policy.pools[index].pushed->agent_name;
    for (const auto& [id, reason] : named) {
      // An answer cannot name one whose name is not known.
      if (!agent_name(owners_.hosts.find(id)->instance.record, name).empty()) ids.insert(id);
      pool.going.try_emplace(id, PushedPool::Going{{}, now.mono}).first->second.reason = reason;
    }
    pool.handshake.planned(ids);
  }
}

}  // namespace hostler::dispatch

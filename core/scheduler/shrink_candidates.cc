#include "core/scheduler/shrink_candidates.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "core/base/units.h"
#include "core/scheduler/agents.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/leave_order.h"
#include "core/scheduler/lifetime.h"
#include "core/scheduler/price_limits.h"
#include "core/scheduler/shutdown_rule.h"
#include "core/scheduler/steps.h"

namespace hostler::scheduler {

using model::Reason;

namespace {

/// The order of shutdowns.
constexpr std::array kOrder{Reason::kUnwantedSpot, Reason::kInterrupted,  Reason::kBeyondMax,
                            Reason::kOffMenu,      Reason::kFailed,       Reason::kStandbySurplus,
                            Reason::kUnreachable,  Reason::kDisconnected, Reason::kTooOld,
                            Reason::kGaveWay,      Reason::kExchanged,    Reason::kAbovePriceLimit,
                            Reason::kIdle,         Reason::kDrained,      Reason::kBootingSurplus};

/// The lowest goes first. A host whose drain is over goes before all others: new drains would use
/// up `destroys_per_decision_max` again and again.
std::ptrdiff_t rank(const World& world, const Candidate& c) {
  if (c.code == Reason::kDrained && world.snapshot.hosts[c.host].drain == DrainPhase::kOver)
    return -1;
  return std::ranges::find(kOrder, c.code) - kOrder.begin();
}

Mono idle_since(const HostView& host) {
  return host.agent == AgentState::kNone ? host.since : host.agent_since;
}

bool goes_first(const World& world, const Candidate& a, const Candidate& b) {
  const HostView &x = world.snapshot.hosts[a.host], &y = world.snapshot.hosts[b.host];
  if (const auto first = rank(world, a), second = rank(world, b); first != second)
    return first < second;
  if (order_of_going(x) != order_of_going(y)) return order_of_going(x) < order_of_going(y);
  if (a.code == Reason::kIdle && x.price_per_hour != y.price_per_hour)
    return x.price_per_hour > y.price_per_hour;
  if ((a.code == Reason::kBootingSurplus || a.code == Reason::kUnwantedSpot) &&
      x.created != y.created)
    return x.created > y.created;
  if (a.code == Reason::kIdle && idle_since(x) != idle_since(y))
    return idle_since(x) < idle_since(y);
  return a.code == Reason::kBootingSurplus ? x.id > y.id : x.id < y.id;
}

/// The hosts of each pool that goes by load, which stay if shrink() does nothing.
std::map<std::uint32_t, std::vector<std::uint32_t>> alive_by_pool(const World& world) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> out;
  for (const std::uint32_t h : world.hosts) {
    const std::uint32_t pool = world.snapshot.hosts[h].pool;
    if (pool < world.bounds.size() && world.bounds[pool].goes_by_load && world.is_alive(h))
      out[pool].push_back(h);
  }
  return out;
}

/// In each pool that goes by load, exchanges the places of hosts that go for one reason and, if
/// they are idle, have one price.
void order_by_load(const World& world, std::vector<Candidate>& candidates) {
  // Pool, reason and price, the dearest first.
  using GroupKey = std::tuple<std::uint32_t, std::ptrdiff_t, std::int64_t>;
  std::map<GroupKey, std::vector<std::size_t>> places;
  for (std::size_t at = 0; at < candidates.size(); ++at) {
    const Candidate& c = candidates[at];
    const HostView& host = world.snapshot.hosts[c.host];
    if (!world.bounds[host.pool].goes_by_load || !goes_for_bounds(c.code)) continue;
    const std::int64_t price = c.code == Reason::kIdle ? host.price_per_hour.value : 0;
    places[{host.pool, rank(world, c), -price}].push_back(at);
  }
  if (places.empty()) return;
  const auto alive = alive_by_pool(world);
  std::map<std::uint32_t, LeaveOrder> orders;
  for (const auto& [group, at] : places) {
    const std::uint32_t pool = std::get<0>(group);
    const auto there = alive.find(pool);
    const auto hosts =
        there != alive.end() ? std::span(there->second) : std::span<const std::uint32_t>();
    LeaveOrder& order =
        orders.try_emplace(pool, world.snapshot.hosts, world.snapshot.offerings, hosts)
            .first->second;
    std::map<std::uint32_t, Candidate> moved;
    std::vector<std::uint32_t> going;
    for (const std::size_t place : at) {
      going.push_back(candidates[place].host);
      moved[going.back()] = candidates[place];
    }
    order.arrange(going);
    for (std::size_t i = 0; i < at.size(); ++i) candidates[at[i]] = moved[going[i]];
  }
}

/// "2 such hosts", "3 hosts, those that are on included"
std::string kept_off(const PoolNumbers& bounds) {
  if (!bounds.has_created) return bounds.stopped.text() + " such hosts";
  return "at most " + bounds.created.max.text() + " hosts, those that are on included";
}

/// "jobs": what the first work is that no host comes for.
std::string what_waits(const World& world) {
  const auto first = std::ranges::find_if(world.demand, &Demand::lacks_hosts);
  const bool waits = first != world.demand.end();
  return std::string(noun_of(waits ? first->view->kind : model::WorkKind::kJob)) + "s";
}

}  // namespace

bool goes_for_bounds(Reason code) {
  return code == Reason::kBeyondMax || code == Reason::kIdle || code == Reason::kStandbySurplus;
}

/// The plan asks for more than still_true() where the end of a host can wait, and where another
/// step of this plan has chosen it.
std::optional<Candidate> candidate_of(const World& world, std::uint32_t h) {
  const HostView& host = world.snapshot.hosts[h];
  const auto* pool = world.pool(host);
  if (pool == nullptr || world.bounds[host.pool].is_held || host.kept) return std::nullopt;
  const Closed closed = world.closed[h];
  // Most hosts: nothing else is true of a host that answers and is in use.
  if (host.phase == HostPhase::kReady && (host.busy || world.used[h]) && !host.unreachable_since &&
      closed != Closed::kAbandoned)
    return std::nullopt;
  const bool is_stale = world.bounds[host.pool].is_stale;
  const auto is_true = [&](Reason code) {
    return (!world.used[h] || code == Reason::kUnreachable) &&
           !(is_stale && goes_by_push(code, host)) &&
           still_true(code, host, closed, *pool, world.snapshot.now);
  };
  const bool is_coming = host.phase == HostPhase::kComing;
  if (is_true(Reason::kInterrupted)) return Candidate{h, Reason::kInterrupted, false};
  if (host.drain == DrainPhase::kUnderWay && !host.unreachable_since) return std::nullopt;
  if (const Reason code = world.goes_anyway(h); is_true(code)) return Candidate{h, code, false};
  if (is_idle_for_long(host, *pool, world.snapshot.now) && is_true(Reason::kIdle) &&
      !world.must_go(h) && closed == Closed::kBeyondMax)
    return Candidate{h, Reason::kIdle, true};
  // A host that does not answer, or did not since the restart, has its own time to be back.
  if (is_true(Reason::kBeyondMax) && !host.adopted && !host.unreachable_since)
    return Candidate{h, end_of(closed), false};
  const bool is_awaited = host.for_exchange && !world.stale_spot[h];
  if (is_true(Reason::kUnwantedSpot) && is_coming && !is_awaited)
    return Candidate{h, Reason::kUnwantedSpot, !world.stale_spot[h]};
  if (is_standby(world, h))
    return is_true(Reason::kStandbySurplus)
               ? std::optional(Candidate{h, Reason::kStandbySurplus, false})
               : std::nullopt;
  if (is_true(Reason::kFailed)) return Candidate{h, Reason::kFailed, false};
  if (is_true(Reason::kUnreachable) && host.phase == HostPhase::kReady)
    return Candidate{h, Reason::kUnreachable, false};
  if (is_true(Reason::kDrained)) return Candidate{h, Reason::kDrained, false};
  // A host that boots for other reasons is kept until it is ready and idle.
  const bool is_unneeded = host.work_cancelled && host.agent == AgentState::kNone &&
                           !is_young(host, *pool, world.snapshot.now);
  if (is_true(Reason::kBootingSurplus) && (world.gives_way[h] || is_unneeded))
    return Candidate{h, Reason::kBootingSurplus, true};
  if (is_true(Reason::kGaveWay) && world.gives_way[h]) return Candidate{h, Reason::kGaveWay, true};
  if (is_true(world.too_dear[h])) return Candidate{h, world.too_dear[h], true};
  if (is_true(Reason::kIdle)) return Candidate{h, Reason::kIdle, true};
  return std::nullopt;
}

void put_in_order(const World& world, std::vector<Candidate>& candidates) {
  std::ranges::sort(
      candidates, [&](const Candidate& a, const Candidate& b) { return goes_first(world, a, b); });
  order_by_load(world, candidates);
}

std::string reason_of(const World& world, const Candidate& c) {
  const HostView& host = world.snapshot.hosts[c.host];
  const auto& pool = *world.pool(host);
  const Mono now = world.snapshot.now;
  switch (c.code) {
    case Reason::kUnwantedSpot:
      return world.stale_spot[c.host]
                 ? "its spot request was not fulfilled in " + format_duration(now - host.created)
                 : "nothing waits for its spot request";
    case Reason::kFailed:
      return "it is switched off";
    case Reason::kStandbySurplus:
      return "switched off, and pool " + pool.name + " keeps " + kept_off(world.bounds[host.pool]);
    case Reason::kUnreachable:
      return "unreachable for " + format_duration(now - *host.unreachable_since) +
             ", probe timeout " + format_duration(pool.probe_timeout);
    case Reason::kDisconnected:
      return "without agent for " + format_duration(now - host.agent_since) + ", the limit is " +
             format_duration(pool.pushed->disconnected);
    case Reason::kTooOld:
      return "it is " + format_duration(now - host.created) + " old, lifetime_max " +
             format_duration(pool.pushed->lifetime_max);
    case Reason::kIdle:
      return "idle for " + format_duration(now - idle_since(host)) + ", idle timeout " +
             format_duration(pool.idle_timeout);
    case Reason::kDrained:
      return "drained: nothing runs on it any more";
    case Reason::kInterrupted:
      return "its cloud takes it back, and nothing runs on it any more";
    case Reason::kBootingSurplus:
      if (world.gives_way[c.host])
        return "still booting, and other " + what_waits(world) + " need its room";
      return "still booting, and nothing needs it: the jobs that it was for are cancelled or have "
             "other hosts";
    case Reason::kBeyondMax:
      if (world.closed[c.host] == Closed::kAbandoned)
        return "the scheduler of pool " + pool.name + " does not push any more: maximum of " +
               world.bounds[host.pool].started.max.text();
      return "pool " + pool.name + " has more hosts than its maximum of " +
             world.bounds[host.pool].started.max.text();
    case Reason::kOffMenu:
      return "its type has left the menu of pool " + pool.name;
    case Reason::kGaveWay:
      return "waiting " + what_waits(world) + " need its room, and none of them fits it";
    case Reason::kExchanged:
      return "a cheaper host replaces it in pool " + pool.name;
    case Reason::kAbovePriceLimit:
      return price_limit_text(world, host);
    default:
      return {};
  }
}

}  // namespace hostler::scheduler

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/units.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/price_limits.h"
#include "core/scheduler/price_rule.h"
#include "core/scheduler/shutdown_rule.h"
#include "core/scheduler/steps.h"
#include "core/scheduler/targets.h"

namespace hostler::scheduler {

using model::Reason;

namespace {

/// A host that may go, if the pool's minimum and standby do not need it.
struct Candidate {
  std::uint32_t host = 0;
  Reason code{};
  bool keeps_minimum = false;  ///< It counts for minimum and standby, so they may keep it.
};

/// The plan asks for more than still_true() where the end of a host can wait, and where another
/// step of this plan has chosen it.
std::optional<Candidate> candidate_of(const World& world, std::uint32_t h) {
  const HostView& host = world.snapshot.hosts[h];
  const auto* pool = world.pool(host);
  if (pool == nullptr || world.bounds[host.pool].is_held || host.kept) return std::nullopt;
  // Most hosts: nothing else is true of a host that answers and is in use.
  if (host.phase == HostPhase::kReady && (host.busy || world.used[h]) && !host.unreachable_since)
    return std::nullopt;
  const Closed closed = world.closed[h];
  const auto is_true = [&](Reason code) {
    return (!world.used[h] || code == Reason::kUnreachable) &&
           still_true(code, host, closed, *pool, world.snapshot.now);
  };
  const bool is_coming = host.phase == HostPhase::kComing;
  if (is_true(Reason::kInterrupted)) return Candidate{h, Reason::kInterrupted, false};
  // A host that does not answer, or did not since the restart, has its own time to be back.
  if (is_true(Reason::kBeyondMax) && !host.adopted && !host.unreachable_since)
    return Candidate{h, end_of(closed), false};
  const bool is_awaited = host.for_exchange && !world.stale_spot[h];
  if (is_true(Reason::kUnwantedSpot) && is_coming && !is_awaited)
    return Candidate{h, Reason::kUnwantedSpot, !world.stale_spot[h]};
  if (is_standby(world, h)) return Candidate{h, Reason::kStandbySurplus, false};
  if (is_true(Reason::kFailed)) return Candidate{h, Reason::kFailed, false};
  if (is_true(Reason::kUnreachable) && host.phase == HostPhase::kReady)
    return Candidate{h, Reason::kUnreachable, false};
  if (is_true(Reason::kDrained)) return Candidate{h, Reason::kDrained, false};
  // A host that boots for other reasons is kept until it is ready and idle.
  if (is_true(Reason::kBootingSurplus) && (world.gives_way[h] || host.work_cancelled))
    return Candidate{h, Reason::kBootingSurplus, true};
  if (is_true(Reason::kGaveWay) && world.gives_way[h]) return Candidate{h, Reason::kGaveWay, true};
  if (is_true(world.too_dear[h])) return Candidate{h, world.too_dear[h], true};
  if (is_true(Reason::kIdle)) return Candidate{h, Reason::kIdle, true};
  return std::nullopt;
}

/// The order of shutdowns.
constexpr std::array kOrder{Reason::kUnwantedSpot,    Reason::kInterrupted, Reason::kBeyondMax,
                            Reason::kOffMenu,         Reason::kFailed,      Reason::kStandbySurplus,
                            Reason::kUnreachable,     Reason::kGaveWay,     Reason::kExchanged,
                            Reason::kAbovePriceLimit, Reason::kIdle,        Reason::kDrained,
                            Reason::kBootingSurplus};

/// The lowest goes first.
auto rank(Reason code) { return std::ranges::find(kOrder, code) - kOrder.begin(); }

bool goes_first(const World& world, const Candidate& a, const Candidate& b) {
  const HostView &x = world.snapshot.hosts[a.host], &y = world.snapshot.hosts[b.host];
  if (a.code != b.code) return rank(a.code) < rank(b.code);
  if (a.code == Reason::kIdle && x.price_per_hour != y.price_per_hour)
    return x.price_per_hour > y.price_per_hour;
  if ((a.code == Reason::kBootingSurplus || a.code == Reason::kUnwantedSpot) &&
      x.created != y.created)
    return x.created > y.created;
  if (a.code == Reason::kIdle && x.since != y.since) return x.since < y.since;
  return a.code == Reason::kBootingSurplus ? x.id > y.id : x.id < y.id;
}

/// "; pool default has 5 hosts, and its maximum is 3"; or empty.
std::string beyond_maximum(const std::string& name, const PoolNumbers& bounds,
                           const PoolHosts& hosts) {
  const BoundNumber& max = bounds.started.max;
  if (hosts.alive <= max.value) return {};
  return "; pool " + name + " has " + std::to_string(hosts.alive) + " hosts, and its maximum is " +
         max.text();
}

/// "2 such hosts", "3 hosts, those that are on included"
std::string kept_off(const PoolNumbers& bounds) {
  if (!bounds.has_created) return bounds.stopped.text() + " such hosts";
  const auto& [min, max] = bounds.created;
  return (min.value > 0 ? min.text() : "at most " + max.text()) +
         " hosts, those that are on included";
}

/// "jobs": what the first work is that no host comes for.
std::string what_waits(const World& world) {
  const auto first = std::ranges::find_if(world.demand, &Demand::lacks_hosts);
  const bool waits = first != world.demand.end();
  return std::string(noun_of(waits ? first->view->kind : model::WorkKind::kJob)) + "s";
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
    case Reason::kIdle:
      return "idle for " + format_duration(now - host.since) + ", idle timeout " +
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

/// Hosts of a pool that the plan has not ended.
struct Count {
  PoolHosts hosts;
  PoolHosts booted;                      ///< Of `hosts`, those that are ready.
  std::int64_t booting = 0;              ///< Surplus hosts that still boot.
  std::int64_t ready_price = INT64_MAX;  ///< The lowest price of the booted ones that are empty.
};

/// Adds the host to the counts of its pool.
void add(const World& world, std::uint32_t h, const std::optional<Candidate>& candidate,
         std::vector<Count>& counts) {
  const HostView& host = world.snapshot.hosts[h];
  const bool alive = candidate ? candidate->keeps_minimum : world.is_alive(h);
  if (host.pool >= counts.size()) return;
  Count& count = counts[host.pool];
  if (candidate && candidate->code == Reason::kStandbySurplus) ++count.hosts.off;
  if (candidate && candidate->code == Reason::kBootingSurplus) ++count.booting;
  if (!alive) return;
  const bool is_ready = host.phase == HostPhase::kReady;
  ++count.hosts.alive;
  if (is_ready) ++count.booted.alive;
  if (host.busy || world.used[h] || host.kept) return;
  ++count.hosts.empty;
  if (!is_ready) return;
  ++count.booted.empty;
  count.ready_price = std::min(count.ready_price, host.price_per_hour.value);
}

bool is_anything_missing(const World& world) {
  return std::ranges::any_of(world.demand, [](const Demand& d) { return d.uncovered > 0; });
}

/// Whether the pool's target needs the host.
bool is_wanted(const World& world, const Candidate& c, const Count& count) {
  const HostView& host = world.snapshot.hosts[c.host];
  const auto& pool = *world.pool(host);
  if (world.must_go(c.host)) return false;
  const PoolNumbers& bounds = world.bounds[host.pool];
  const Target target = target_of(bounds, count.hosts.in_use());
  const std::int64_t missing = std::max<std::int64_t>(0, target.off - count.hosts.off);
  if (c.code == Reason::kStandbySurplus)
    return count.hosts.off <= target.off &&
           count.hosts.alive + count.hosts.off <= bounds.created.max.value;
  if (!c.keeps_minimum) return false;
  const bool boots = c.code == Reason::kBootingSurplus;
  const std::int64_t to_be_off = boots ? missing : 0;
  if (target.missing(count.hosts) + to_be_off >= 0) return true;
  // A booting host does not replace a ready one.
  if (c.code == Reason::kIdle)
    return target_of(bounds, count.booted.in_use()).missing(count.booted) >= 0;
  // A booting host that the standby may need finishes its boot: else each short job on a standby
  // host would create a host, and its end would destroy that one. Except if it is far dearer than
  // the ready hosts, or if items wait and it could keep a host for them from being created.
  return boots && count.hosts.alive <= target.max && !is_anything_missing(world) &&
         count.booting <= target.empty + missing &&
         !is_too_dear(host.price_per_hour, static_cast<double>(count.ready_price), pool);
}

/// Its end would leave fewer hosts, switched-off ones included, than the minimum of created hosts.
bool would_be_missing(const World& world, const Candidate& c, const PoolHosts& hosts) {
  if (!c.keeps_minimum && c.code != Reason::kStandbySurplus) return false;
  if (world.must_go(c.host)) return false;
  const PoolNumbers& bounds = world.bounds[world.snapshot.hosts[c.host].pool];
  return hosts.alive + hosts.off <= bounds.created.min.value;
}

}  // namespace

void shrink(World& world, Plan& plan) {
  std::vector<Count> counts(world.policy.pools.size());
  std::vector<Candidate> candidates;
  for (const std::uint32_t h : world.hosts) {
    const auto candidate = candidate_of(world, h);
    if (candidate) candidates.push_back(*candidate);
    add(world, h, candidate, counts);
  }
  std::sort(candidates.begin(), candidates.end(),
            [&](const Candidate& a, const Candidate& b) { return goes_first(world, a, b); });
  for (const Candidate& c : candidates) {
    const HostView& host = world.snapshot.hosts[c.host];
    Count& count = counts[host.pool];
    const PoolNumbers& bounds = world.bounds[host.pool];
    if (is_wanted(world, c, count)) continue;
    const bool goes_off = c.code == Reason::kIdle && host.can_stop && host.takes_work &&
                          count.hosts.off < target_of(bounds, count.hosts.in_use()).off;
    if (!goes_off && would_be_missing(world, c, count.hosts)) continue;
    if (!goes_off && !world.budget.may_destroy(host)) continue;
    std::string reason = reason_of(world, c);
    if (c.keeps_minimum) reason += beyond_maximum(world.pool(host)->name, bounds, count.hosts);
    if (c.keeps_minimum) --count.hosts.alive, --count.hosts.empty;
    if (c.keeps_minimum && host.phase == HostPhase::kReady)
      --count.booted.alive, --count.booted.empty;
    if (c.code == Reason::kBootingSurplus) --count.booting;
    if (goes_off) {
      plan.switch_offs.push_back({host.id, std::move(reason)});
      ++count.hosts.off;
      continue;
    }
    world.budget.destroy(host);
    if (c.code == Reason::kStandbySurplus) --count.hosts.off;
    plan.shutdowns.push_back({host.id, c.code, std::move(reason), world.gives_way[c.host]});
  }
}

}  // namespace hostler::scheduler

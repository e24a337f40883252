#include <algorithm>
#include <utility>

#include "core/scheduler/agents.h"
#include "core/scheduler/price_rule.h"
#include "core/scheduler/shrink_candidates.h"
#include "core/scheduler/steps.h"
#include "core/scheduler/targets.h"

namespace hostler::scheduler {

using model::Reason;

namespace {

/// "; pool default has 5 hosts, and its maximum is 3"; or empty.
std::string beyond_maximum(const std::string& name, const PoolNumbers& bounds,
                           const PoolHosts& hosts) {
  const BoundNumber& max = bounds.started.max;
  if (hosts.alive <= max.value) return {};
  return "; pool " + name + " has " + std::to_string(hosts.alive) + " hosts, and its maximum is " +
         max.text();
}

/// Hosts of a pool that the plan has not ended.
struct Count {
  PoolHosts hosts;
  PoolHosts booted;                      ///< Of `hosts`, those that are ready.
  std::int64_t booting = 0;              ///< Surplus hosts that still boot.
  std::int64_t may_end_off = 0;          ///< Switched-off hosts that may be ended.
  std::int64_t woken = 0;                ///< By this plan: they are in none of the numbers above.
  std::int64_t ready_price = INT64_MAX;  ///< The lowest price of the booted ones that are empty.

  [[nodiscard]] std::int64_t created() const { return hosts.created() + woken; }
};

/// Adds the host to the counts of its pool.
void add(const World& world, std::uint32_t h, const std::optional<Candidate>& candidate,
         std::vector<Count>& counts) {
  const HostView& host = world.snapshot.hosts[h];
  const bool alive = candidate ? candidate->keeps_minimum : world.is_alive(h);
  if (host.pool >= counts.size()) return;
  Count& count = counts[host.pool];
  if (is_standby(world, h)) ++count.hosts.off;
  if (host.phase == HostPhase::kStopped && world.used[h]) ++count.woken;
  if (world.turns_off(h)) ++count.hosts.turning_off;
  if (candidate && candidate->code == Reason::kStandbySurplus) ++count.may_end_off;
  if (candidate && candidate->code == Reason::kBootingSurplus) ++count.booting;
  if (!alive) return;
  const bool is_ready = host.phase == HostPhase::kReady;
  ++count.hosts.alive;
  if (is_ready) ++count.booted.alive;
  if (world.used[h] || !host.is_empty()) return;
  ++count.hosts.empty;
  if (!is_ready) return;
  ++count.booted.empty;
  count.ready_price = std::min(count.ready_price, host.price_per_hour.value);
}

/// It goes, or turns off.
void remove(const World& world, const Candidate& c, Count& count) {
  if (c.keeps_minimum) --count.hosts.alive, --count.hosts.empty;
  if (c.keeps_minimum && world.snapshot.hosts[c.host].phase == HostPhase::kReady)
    --count.booted.alive, --count.booted.empty;
  if (c.code == Reason::kBootingSurplus) --count.booting;
  if (c.code == Reason::kStandbySurplus) --count.hosts.off, --count.may_end_off;
  if (world.turns_off(c.host)) --count.hosts.turning_off;
}

bool is_anything_missing(const World& world) {
  return std::ranges::any_of(world.demand, [](const Demand& d) { return d.uncovered > 0; });
}

/// What becomes of a candidate.
enum class Fate : std::uint8_t { kStays, kTurnsOff, kEnds };

/// A minimum or standby needs the host.
bool is_wanted(const World& world, const Candidate& c, const Count& count) {
  if (!c.keeps_minimum) return false;
  const HostView& host = world.snapshot.hosts[c.host];
  const PoolNumbers& bounds = world.bounds[host.pool];
  const Target target = target_of(bounds, count.hosts.in_use());
  const std::int64_t missing = std::max<std::int64_t>(0, target.off - count.hosts.off);
  const bool boots = c.code == Reason::kBootingSurplus;
  const std::int64_t to_be_off = boots ? missing : 0;
  if (target.missing(count.hosts) + to_be_off >= 0) return true;
  // A booting host does not replace a ready one, but for outside schedulers (Determined).
  if (c.code == Reason::kIdle && host.agent == AgentState::kNone)
    return target_of(bounds, count.booted.in_use()).missing(count.booted) >= 0;
  // A booting host that the standby may need finishes its boot: else each short job on a standby
  // host would create a host, and its end would destroy that one. Except if it is far dearer than
  // the ready hosts, or if items wait and it could keep a host for them from being created.
  return boots && count.hosts.alive <= target.max && !is_anything_missing(world) &&
         count.booting <= target.empty + missing &&
         !is_too_dear(host.price_per_hour, static_cast<double>(count.ready_price),
                      *world.pool(host));
}

/// The pool's created bounds, or its `stopped`, keep the host if it is switched off.
bool is_kept_off(const World& world, const Candidate& c, const Count& count) {
  const PoolNumbers& bounds = world.bounds[world.snapshot.hosts[c.host].pool];
  const bool is_off = c.code == Reason::kStandbySurplus;
  // Switched-off hosts beyond the maximum go before others.
  const std::int64_t others_first = is_off ? 0 : count.may_end_off;
  if (bounds.has_created) return count.created() - others_first <= bounds.created.max.value;
  const std::int64_t most = target_of(bounds, count.hosts.in_use()).off;
  if (is_off) return count.hosts.off <= most && count.created() <= bounds.created.max.value;
  const bool drains = world.turns_off(c.host);
  return count.hosts.off + (drains ? 0 : count.hosts.turning_off) < most;
}

/// It was chosen as its pool has too many, and may be switched off in place of its end.
bool may_be_off(const World& world, const Candidate& c) {
  const HostView& host = world.snapshot.hosts[c.host];
  const bool has_created = world.bounds[host.pool].has_created;
  switch (c.code) {
    case Reason::kStandbySurplus:
      return true;
    case Reason::kIdle:
      return host.may_stop() && host.takes_work;
    case Reason::kBootingSurplus:
      return has_created && host.may_stop();
    case Reason::kBeyondMax:
      return world.turns_off(c.host) && host.may_stop() &&
             (host.takes_work || host.phase == HostPhase::kComing);
    case Reason::kDrained:
      return world.turns_off(c.host);
    default:
      return false;
  }
}

Fate fate_of(const World& world, const Candidate& c, const Count& count) {
  if (world.must_go(c.host)) return Fate::kEnds;
  if (is_wanted(world, c, count)) return Fate::kStays;
  const HostView& host = world.snapshot.hosts[c.host];
  if (may_be_off(world, c) && is_kept_off(world, c, count))
    // One that boots is switched off after that, another once it is known that it can be.
    return host.phase == HostPhase::kReady && host.can_stop ? Fate::kTurnsOff : Fate::kStays;
  const bool is_counted =
      c.keeps_minimum || c.code == Reason::kStandbySurplus ||
      (c.code == Reason::kBeyondMax && world.turns_off(c.host) && !host.can_stop);
  const bool would_be_missing =
      is_counted && count.created() <= world.bounds[host.pool].created.min.value;
  return would_be_missing ? Fate::kStays : Fate::kEnds;
}

/// The scheduler of its pool is asked to leave the host alone first.
bool asks_first(const World& world, const Candidate& c) {
  const HostView& host = world.snapshot.hosts[c.host];
  return needs_handshake(c.code, host, world.closed[c.host]) && !host.acknowledged;
}

/// Busy hosts that are too old: their scheduler is told, and goes on.
void name_too_old(const World& world, Plan& plan) {
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = world.snapshot.hosts[h];
    if (world.goes_anyway(h) == Reason::kTooOld && host.busy)
      plan.going.push_back({host.id, reason_of(world, {h, Reason::kTooOld, false})});
  }
}

/// Its pool says that something is done before it goes.
bool drains_first(const World& world, const Candidate& c) {
  const HostView& host = world.snapshot.hosts[c.host];
  return goes_for_bounds(c.code) && host.phase == HostPhase::kReady &&
         host.drain == DrainPhase::kNone && world.pool(host)->scaling.drain.has_value();
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
  put_in_order(world, candidates);
  for (const Candidate& c : candidates) {
    const HostView& host = world.snapshot.hosts[c.host];
    Count& count = counts[host.pool];
    const Fate fate = fate_of(world, c, count);
    if (fate == Fate::kStays) continue;
    const bool must_wait = fate == Fate::kEnds && !world.budget.may_destroy(host);
    // An acknowledgement stays while the host is named.
    const bool is_named = asks_first(world, c) || (must_wait && host.acknowledged);
    if (must_wait && !is_named) continue;
    std::string reason = reason_of(world, c);
    if (c.keeps_minimum)
      reason += beyond_maximum(world.pool(host)->name, world.bounds[host.pool], count.hosts);
    remove(world, c, count);
    if (is_named) {
      plan.going.push_back({host.id, std::move(reason)});
      continue;
    }
    if (fate == Fate::kEnds) world.budget.destroy(host);
    const bool drains = drains_first(world, c);
    if (fate == Fate::kTurnsOff) ++(drains ? count.hosts.turning_off : count.hosts.off);
    if (drains)
      plan.drains.push_back({host.id, std::move(reason)});
    else if (fate == Fate::kTurnsOff)
      plan.switch_offs.push_back({host.id, std::move(reason), c.code});
    else
      plan.shutdowns.push_back({host.id, c.code, std::move(reason), world.gives_way[c.host]});
  }
  name_too_old(world, plan);
}

}  // namespace hostler::scheduler

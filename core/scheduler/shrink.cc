#include <algorithm>

#include "core/base/units.h"
#include "core/scheduler/steps.h"

namespace hostler::scheduler {
namespace {

/// A host that may go, if the pool's minimum and standby do not need it.
struct Candidate {
  std::uint32_t host = 0;
  ShutdownCode code{};
  bool keeps_minimum = false;  ///< It counts for minimum and standby, so they may keep it.
};

std::optional<Candidate> candidate_of(const World& world, std::uint32_t h) {
  const HostView& host = world.snapshot.hosts[h];
  const auto* pool = world.pool(host);
  if (pool == nullptr || world.pool_held[host.pool] || host.kept ||
      host.phase == HostPhase::kLingering || host.phase == HostPhase::kLeaving)
    return std::nullopt;
  const Mono now = world.snapshot.now;
  const bool in_use = host.busy || world.used[h];
  if (host.unfulfilled_spot && host.phase == HostPhase::kComing && !in_use)
    return Candidate{h, ShutdownCode::kUnwantedSpot, !world.stale_spot[h]};
  if (is_standby(world, h)) return Candidate{h, ShutdownCode::kStandbySurplus, false};
  if (host.phase == HostPhase::kStopped && !in_use)
    return Candidate{h, ShutdownCode::kFailed, false};
  if (host.unreachable_since && now - *host.unreachable_since >= pool->probe_timeout &&
      host.phase == HostPhase::kReady)
    return Candidate{h, ShutdownCode::kUnreachable, false};
  if (in_use) return std::nullopt;
  if (host.draining) return Candidate{h, ShutdownCode::kDrained, false};
  if (host.adopted) return std::nullopt;
  if (host.phase == HostPhase::kComing) return Candidate{h, ShutdownCode::kBootingSurplus, true};
  if (now - host.since >= pool->idle_timeout) return Candidate{h, ShutdownCode::kIdle, true};
  return std::nullopt;
}

/// Position in the order of shutdowns: the lowest goes first.
int rank(ShutdownCode code) {
  switch (code) {
    case ShutdownCode::kUnwantedSpot:
      return 0;
    case ShutdownCode::kFailed:
    case ShutdownCode::kStandbySurplus:
      return 1;
    case ShutdownCode::kUnreachable:
      return 2;
    case ShutdownCode::kIdle:
      return 3;
    case ShutdownCode::kDrained:
      return 4;
    case ShutdownCode::kBootingSurplus:
      return 5;
  }
  return 6;
}

bool goes_first(const World& world, const Candidate& a, const Candidate& b) {
  const HostView &x = world.snapshot.hosts[a.host], &y = world.snapshot.hosts[b.host];
  if (a.code != b.code) return rank(a.code) < rank(b.code);
  if (a.code == ShutdownCode::kIdle && x.price_per_hour != y.price_per_hour)
    return x.price_per_hour > y.price_per_hour;
  if ((a.code == ShutdownCode::kBootingSurplus || a.code == ShutdownCode::kUnwantedSpot) &&
      x.created != y.created)
    return x.created > y.created;
  if (a.code == ShutdownCode::kIdle && x.since != y.since) return x.since < y.since;
  return a.code == ShutdownCode::kBootingSurplus ? x.id > y.id : x.id < y.id;
}

std::string reason_of(const World& world, const Candidate& c) {
  const HostView& host = world.snapshot.hosts[c.host];
  const auto& pool = *world.pool(host);
  const Mono now = world.snapshot.now;
  switch (c.code) {
    case ShutdownCode::kUnwantedSpot:
      return world.stale_spot[c.host]
                 ? "its spot request was not fulfilled in " + format_duration(now - host.created)
                 : "nothing waits for its spot request";
    case ShutdownCode::kFailed:
      return "it is switched off";
    case ShutdownCode::kStandbySurplus:
      return "switched off, and pool " + pool.name + " keeps " + std::to_string(pool.stopped) +
             " such hosts";
    case ShutdownCode::kUnreachable:
      return "unreachable for " + format_duration(now - *host.unreachable_since) +
             ", probe timeout " + format_duration(pool.probe_timeout);
    case ShutdownCode::kIdle:
      return "idle for " + format_duration(now - host.since) + ", idle timeout " +
             format_duration(pool.idle_timeout);
    case ShutdownCode::kDrained:
      return "drained: nothing runs on it any more";
    case ShutdownCode::kBootingSurplus:
      return "still booting, and nothing waits for it";
  }
  return {};
}

/// Hosts of a pool that the plan has not ended.
struct Count {
  std::int64_t alive = 0;
  std::int64_t spare = 0;                ///< Alive and empty; some still boot.
  std::int64_t ready = 0;                ///< Spare, and booted.
  std::int64_t up = 0;                   ///< Alive, and booted.
  std::int64_t booting = 0;              ///< Surplus hosts that still boot.
  std::int64_t off = 0;                  ///< Switched off and kept.
  std::int64_t ready_price = INT64_MAX;  ///< The lowest price of the `ready` ones.
};

/// Adds the host to the counts of its pool.
void add(const World& world, std::uint32_t h, const std::optional<Candidate>& candidate,
         std::vector<Count>& counts) {
  const HostView& host = world.snapshot.hosts[h];
  const bool alive =
      candidate
          ? candidate->keeps_minimum
          : (host.phase == HostPhase::kComing || host.phase == HostPhase::kReady) && !host.draining;
  if (host.pool >= counts.size()) return;
  Count& count = counts[host.pool];
  if (candidate && candidate->code == ShutdownCode::kStandbySurplus) ++count.off;
  if (candidate && candidate->code == ShutdownCode::kBootingSurplus) ++count.booting;
  if (!alive) return;
  ++count.alive;
  if (host.phase == HostPhase::kReady) ++count.up;
  if (host.busy || world.used[h] || host.kept) return;
  ++count.spare;
  if (host.phase != HostPhase::kReady) return;
  ++count.ready;
  count.ready_price = std::min(count.ready_price, host.price_per_hour.value);
}

bool is_anything_missing(const World& world) {
  return std::ranges::any_of(world.demand, [](const Demand& d) { return d.uncovered > 0; });
}

/// Whether the pool's minimum, standby or `stopped` needs the host. This mirrors keep_ready() of
/// grow.cc: else one plan would end the host that the plan before created.
bool is_wanted(const World& world, const Candidate& c, const Count& count) {
  const HostView& host = world.snapshot.hosts[c.host];
  const auto& pool = *world.pool(host);
  const std::int64_t missing = std::max<std::int64_t>(0, pool.stopped - count.off);
  if (c.code == ShutdownCode::kStandbySurplus) return count.off <= pool.stopped;
  if (!c.keeps_minimum) return false;
  const bool boots = c.code == ShutdownCode::kBootingSurplus;
  const std::int64_t to_be_off = boots ? missing : 0;
  if (count.alive <= pool.min + to_be_off || count.spare <= pool.standby + to_be_off) return true;
  // A booting host does not replace a ready one.
  if (c.code == ShutdownCode::kIdle) return count.ready <= pool.standby || count.up <= pool.min;
  // A booting host that the standby may need finishes its boot: else each short job on a standby
  // host would create a host, and its end would destroy that one. Except if it is far dearer than
  // the ready hosts, or if items wait and it could keep a host for them from being created.
  return boots && !is_anything_missing(world) && count.booting <= pool.standby + missing &&
         static_cast<double>(host.price_per_hour.value) <=
             static_cast<double>(count.ready_price) * pool.price_factor_max;
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
    if (is_wanted(world, c, count)) continue;
    const bool goes_off = c.code == ShutdownCode::kIdle && host.can_stop && host.takes_work &&
                          count.off < world.pool(host)->stopped;
    if (!goes_off && !world.budget.may_destroy(host)) continue;
    if (c.keeps_minimum) --count.alive, --count.spare;
    if (c.code == ShutdownCode::kIdle) --count.ready, --count.up;
    if (c.code == ShutdownCode::kBootingSurplus) --count.booting;
    if (goes_off) {
      plan.switch_offs.push_back({host.id, reason_of(world, c)});
      ++count.off;
      continue;
    }
    world.budget.destroy(host);
    if (c.code == ShutdownCode::kStandbySurplus) --count.off;
    plan.shutdowns.push_back({host.id, c.code, reason_of(world, c)});
  }
}

model::Reason reason_of(ShutdownCode code) {
  switch (code) {
    case ShutdownCode::kUnwantedSpot:
      return model::Reason::kUnwantedSpot;
    case ShutdownCode::kFailed:
      return model::Reason::kFailed;
    case ShutdownCode::kUnreachable:
      return model::Reason::kUnreachable;
    case ShutdownCode::kIdle:
      return model::Reason::kIdle;
    case ShutdownCode::kDrained:
      return model::Reason::kDrained;
    case ShutdownCode::kBootingSurplus:
      return model::Reason::kBootingSurplus;
    case ShutdownCode::kStandbySurplus:
      return model::Reason::kStandbySurplus;
  }
  return model::Reason::kUnknown;
}

}  // namespace hostler::scheduler

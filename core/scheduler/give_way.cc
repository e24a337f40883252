#include "core/scheduler/give_way.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/scheduler/agents.h"
#include "core/scheduler/price_rule.h"

namespace hostler::scheduler {
namespace {

constexpr std::size_t kNeedsTried = 64, kOfferingsTried = 8;

/// Nothing waits for the host and nothing runs on it, and a plan may end it.
bool is_free_to_go(const World& world, std::uint32_t h) {
  const HostView& host = world.snapshot.hosts[h];
  const auto* pool = world.pool(host);
  if (pool == nullptr || host.busy || world.used[h]) return false;
  if (host.agent == AgentState::kLost || is_awaited(host, *pool, world.snapshot.now)) return false;
  const bool boots = host.phase == HostPhase::kComing && !host.adopted && !host.unfulfilled_spot;
  const bool is_idle = host.phase == HostPhase::kReady && !host.unreachable_since;
  return (boots || is_idle) && !host.kept && !host.will_go() && world.closed[h] == Closed::kNo &&
         !world.bounds[host.pool].is_held && !world.bounds[host.pool].has_unknown_min;
}

class GiveWay {
 public:
  explicit GiveWay(World& world)
      : world_(world),
        future_(world.budget),
        waits_(world.needs.size()),
        pools_(world.policy.pools.size()),
        first_(world.policy.pools.size()) {
    for (const Demand& demand : world.demand)
      if (demand.left > 0 || demand.lacks_hosts()) waits_[demand.need] = true;
  }

  void run() {
    if (!gather()) return;
    for (const HostView& host : world_.snapshot.hosts)
      if (host.ends) future_.free(host);
    std::vector<bool> tried(world_.needs.size());
    std::size_t count = 0;
    for (const Demand& demand : world_.demand) {
      const bool is_gang = demand.missing > 0;
      if (!demand.lacks_hosts() || (tried[demand.need] && !is_gang)) continue;
      if (++count > kNeedsTried) return;
      if (is_gang) {
        make_room_for_gang(demand);
        continue;
      }
      tried[demand.need] = true;
      make_room_for(demand);
    }
  }

 private:
  void make_room_for(const Demand& demand) {
    std::vector<std::uint32_t> blocked;
    for (const std::uint32_t i : world_.offers) {  // Cheapest first.
      const Offering& o = world_.snapshot.offerings[i];
      if (pools_[o.pool].empty() || !(o.shut.empty() || o.at_quota) || !serves(world_, demand, i))
        continue;
      if (o.shut.empty() && world_.budget.has_room(o)) return;  // A ceiling does not block it.
      if (world_.budget.rate_allows(o) && blocked.size() < kOfferingsTried) blocked.push_back(i);
    }
    for (const std::uint32_t i : blocked) {
      const Offering& o = world_.snapshot.offerings[i];
      if (o.at_quota) {
        if (make_room_at_quota(o)) return;
        continue;
      }
      const std::uint64_t each = sharing(world_, world_.needs[demand.need], o, demand.uncovered);
      std::uint64_t left = demand.uncovered;
      while (left > 0 && make_room(o)) left -= std::min(left, each);
      if (left < demand.uncovered) return;
    }
  }

  /// For all hosts that it lacks, of one offering, or for none.
  void make_room_for_gang(const Demand& gang) {
    std::size_t tried = 0;
    for (const std::uint32_t i : world_.offers) {  // Cheapest first.
      const Offering& o = world_.snapshot.offerings[i];
      if (pools_[o.pool].empty() || !o.shut.empty() || !serves(world_, gang, i)) continue;
      if (++tried > kOfferingsTried) return;
      const Budget future = future_;
      const std::vector<bool> gives_way = world_.gives_way;
      std::uint64_t left = gang.missing;
      while (left > 0 && make_room(o)) --left;
      if (left == 0) return;
      future_ = future;
      world_.gives_way = gives_way;
      first_.assign(first_.size(), 0);
    }
  }

  /// Room for one more host.
  bool make_room(const Offering& o) {
    Budget trial = future_;
    std::vector<std::uint32_t> going;
    const auto& hosts = pools_[o.pool];
    std::size_t& first = first_[o.pool];
    while (first < hosts.size() && world_.gives_way[hosts[first]]) ++first;
    for (std::size_t at = first; !trial.has_room(o); ++at) {
      if (at == hosts.size()) return false;
      const HostView& host = world_.snapshot.hosts[hosts[at]];
      if (world_.gives_way[hosts[at]] || !trial.helps(o, host)) continue;
      trial.free(host);
      going.push_back(hosts[at]);
    }
    trial.create(o, 1);
    future_ = std::move(trial);
    for (const std::uint32_t h : going) world_.gives_way[h] = true;
    return true;
  }

  bool make_room_at_quota(const Offering& o) {
    const auto is_of_group = [&](const HostView& host) {
      if (host.offering >= world_.snapshot.offerings.size()) return false;
      const Offering& its = world_.snapshot.offerings[host.offering];
      // Types without a group have no quota in common.
      return its.set == o.set &&
             (o.quota_group.empty() ? its.type == o.type : its.quota_group == o.quota_group);
    };
    model::Vcpus missing = std::max(model::Vcpus(1), o.resources.vcpus);
    for (const std::uint32_t h : world_.hosts) {
      const HostView& host = world_.snapshot.hosts[h];
      if ((host.ends || world_.gives_way[h]) && is_of_group(host)) missing -= host.total.vcpus;
    }
    std::vector<std::uint32_t> going;
    for (const std::uint32_t h : pools_[o.pool]) {
      if (missing <= 0) break;
      const HostView& host = world_.snapshot.hosts[h];
      if (world_.gives_way[h] || !is_of_group(host)) continue;
      missing -= host.total.vcpus;
      going.push_back(h);
    }
    if (missing > 0) return false;
    for (const std::uint32_t h : going) world_.gives_way[h] = true;
    return true;
  }

  /// False: no host is of no use.
  bool gather() {
    bool found = false;
    for (const std::uint32_t h : world_.hosts)
      if (is_free_to_go(world_, h) &&
          (world_.snapshot.hosts[h].phase == HostPhase::kComing || !fits_what_waits(h)))
        pools_[world_.snapshot.hosts[h].pool].push_back(h), found = true;
    if (!found) return false;
    const auto rank = [&](std::uint32_t h) {
      const HostView& host = world_.snapshot.hosts[h];
      const bool boots = host.phase == HostPhase::kComing;
      // Those that boot first, the youngest before others; then those that are idle for longest.
      return std::tuple(!boots, boots ? -host.created.time_since_epoch() : Duration{}, host.since);
    };
    for (auto& hosts : pools_)
      std::ranges::stable_sort(hosts,
                               [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
    return true;
  }

  /// Hosts of one offering, size and kinds of cards have one answer.
  bool fits_what_waits(std::uint32_t h) {
    const HostView& host = world_.snapshot.hosts[h];
    const auto& total = host.total;
    const auto [at, fresh] = fits_.try_emplace({host.offering, total, host.gpus});
    if (!fresh) return at->second;
    for (std::size_t n = 0; n < world_.needs.size() && !at->second; ++n)
      at->second = waits_[n] && world_.needs[n].resources.fits_in(total) &&
                   world_.meets(world_.needs[n], host);
    return at->second;
  }

  World& world_;
  Budget future_;            ///< With the room of hosts that end, and that give way.
  std::vector<bool> waits_;  ///< By need: items of it wait.
  std::vector<std::vector<std::uint32_t>> pools_;  ///< Hosts of no use, in the order of going.
  std::vector<std::size_t> first_;                 ///< By pool: those before have given way.
  std::map<std::tuple<std::uint32_t, model::Resources, model::GpuGroups>, bool> fits_;
};

}  // namespace

void give_way(World& world) {
  if (std::ranges::any_of(world.demand, &Demand::lacks_hosts)) GiveWay(world).run();
}

}  // namespace hostler::scheduler

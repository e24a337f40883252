#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "core/dispatch/state/timer.h"
#include "core/fleet/instance.h"
#include "core/model/policy.h"
#include "core/scheduler/snapshot.h"

namespace hostler::dispatch {

/// So long after its begin another exchange is tried in the pool: its new host may not come up.
inline Duration rest_of_exchange(const model::PoolPolicy& pool) {
  return std::max(pool.idle_timeout, pool.boot_timeout);
}

/// What plans leave alone for a while, so that none undoes what another has done: hosts of minimum
/// and standby that gave way to work, and exchanges. A restart forgets it.
class Rests {
 public:
  /// A host of the pool gave way: it is not replaced until then.
  void gave_way(std::uint32_t pool, Mono now, Mono until) {
    auto& hosts = pools_[pool].hosts;
    std::erase_if(hosts, [&](Mono other) { return other <= now; });
    hosts.push_back(until);
  }
  /// An exchange was begun or has ended: the pool begins no other until then.
  void exchange(std::uint32_t pool, Mono until) { pools_[pool].exchange = until; }
  /// The dear host goes before a cheaper one is there, which may be refused; then a dear one is
  /// bought again. So each such try waits twice as long, up to 64 times, within a day.
  void exchange_first(std::uint32_t pool, Mono now, Duration rest) {
    pools_[pool].exchange = now + longer(pools_[pool], now, rest);
  }
  /// A host went as its price passed a limit. It may be bought again at once where its cloud names
  /// another price in its lists than before: so each such try waits longer, likewise.
  void above_limit(std::uint32_t pool, Mono now, Duration rest) {
    gave_way(pool, now, now + longer(pools_[pool], now, rest));
  }

  [[nodiscard]] bool exchanges(std::uint32_t pool, Mono now) const {
    const auto found = pools_.find(pool);
    return found != pools_.end() && found->second.exchange > now;
  }
  /// By pool.
  [[nodiscard]] std::vector<scheduler::Rest> at(Mono now) const {
    std::vector<scheduler::Rest> out;
    for (const auto& [pool, rest] : pools_) {
      out.resize(pool + 1);
      out[pool] = {.hosts = std::ranges::count_if(rest.hosts, [&](Mono u) { return u > now; }),
                   .exchange = rest.exchange > now};
    }
    return out;
  }
  /// The ends of these times that are still to come, by pool.
  [[nodiscard]] std::map<std::uint32_t, std::vector<Timer>> ends(Mono now) const {
    std::map<std::uint32_t, std::vector<Timer>> out;
    for (const auto& [pool, rest] : pools_) {
      if (rest.exchange > now) out[pool].push_back({rest.exchange, "rest_of_exchange"});
      for (const Mono until : rest.hosts)
        if (until > now) out[pool].push_back({until, "rest_of_host"});
    }
    return out;
  }
  /// When the next of these times ends; kNever: there is none.
  [[nodiscard]] Mono next(Mono now) const {
    Mono out = fleet::kNever;
    for (const auto& [pool, timers] : ends(now)) out = std::min(out, first_of(timers));
    return out;
  }

 private:
  struct Pool {
    std::vector<Mono> hosts;
    Mono exchange = Mono::min();
    int tries = 0;  ///< Of exchange_first() and above_limit(), lately.
    Mono last_try = {};
  };
  static Duration longer(Pool& its, Mono now, Duration rest) {
    constexpr int kDoublingsMax = 6;
    its.tries =
        now - its.last_try < std::chrono::hours(24) ? std::min(its.tries + 1, kDoublingsMax) : 0;
    its.last_try = now;
    return rest * (1 << its.tries);
  }
  std::map<std::uint32_t, Pool> pools_;
};

}  // namespace hostler::dispatch

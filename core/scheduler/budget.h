#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/gates/headroom.h"
#include "core/model/policy.h"
#include "core/scheduler/bounds.h"
#include "core/scheduler/snapshot.h"

/// The room that is left below ceilings and below the maximums of pools.
namespace hostler::scheduler {

/// Numbers of hosts as the two maximums of a pool count them.
struct HostsOfMax {
  std::int64_t started = 0;  ///< Switched-off hosts count beyond PoolNumbers::off_max() only.
  std::int64_t created = 0;
};

/// By pool: the hosts that take room below its maximums now, all but those that leave. `bounds`: of
/// each pool. `set_aside` as of Snapshot. O(hosts).
[[nodiscard]] std::vector<HostsOfMax> hosts_of_max(const std::vector<HostView>& hosts,
                                                   const std::vector<PoolNumbers>& bounds,
                                                   const std::vector<std::int64_t>& set_aside);

/// What a new host is for.
enum class ComesAs : std::uint8_t {
  kStarted,
  kStandby,  ///< It is switched off once it has booted.
};

/// The creates and destroys that the ceilings still allow in this plan.
class Budget {
 public:
  /// The arguments outlive it. `bounds`: of each pool.
  Budget(const Snapshot& snapshot, const model::SitePolicy& policy,
         const std::vector<PoolNumbers>& bounds);
  /// How many instances of the offering may be created, at most `wanted`. If a ceiling bounds it,
  /// its name goes to `ceiling`, unless that is null. kStandby: where created bounds are said, the
  /// maximum of started hosts does not bound it.
  [[nodiscard]] std::int64_t creates(const Offering& offering, std::int64_t wanted,
                                     std::string* ceiling = nullptr,
                                     ComesAs as = ComesAs::kStarted) const;
  void create(const Offering& offering, std::int64_t count);
  /// The number and the price of instances have room for one more of the offering; its pool's
  /// maximum included, creates per minute aside.
  [[nodiscard]] bool has_room(const Offering& offering) const;
  /// So do the creates per minute.
  [[nodiscard]] bool rate_allows(const Offering& offering) const;
  /// The end of the host would help to make room for the offering, which has none.
  [[nodiscard]] bool helps(const Offering& offering, const HostView& host) const;
  /// Whose price ceiling is passed by the hosts that there are, if this host counts for it; empty:
  /// none is.
  [[nodiscard]] std::string passed_price(const HostView& host) const;
  /// The host is gone, and its room is free.
  void free(const HostView& host);
  /// A pool's max counts hosts that are on: switched-off ones within PoolNumbers::off_max() count
  /// once woken.
  [[nodiscard]] bool may_wake(const HostView& host) const;
  void wake(const HostView& host);
  [[nodiscard]] bool may_destroy(const HostView& host) const;
  void destroy(const HostView& host);

 private:
  template <class Do>
  void each(std::uint32_t set, std::uint32_t pool, Do act);
  [[nodiscard]] std::uint32_t set_of(const HostView& host) const;

  const Snapshot* snapshot_;
  const model::SitePolicy* policy_;
  const std::vector<PoolNumbers>* bounds_;
  gates::Headroom site_;
  std::vector<gates::Headroom> sets_, pools_;
  std::vector<HostsOfMax> left_;  ///< By pool: room below its maximums.
  std::vector<bool> unseen_;      ///< By set: it has unseen hosts, so nothing is created in it.
};

}  // namespace hostler::scheduler

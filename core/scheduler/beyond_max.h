#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/policy.h"
#include "core/scheduler/bounds.h"

/// Hosts that are to go, as a reload has changed what a pool may have. They are closed: they get no
/// new work, count for no minimum or standby, and are shut down when they are empty.
namespace hostler::scheduler {

enum class Closed : std::uint8_t {
  kNo,
  kBeyondMax,  ///< Its pool has more hosts than its maximum.
  kOffMenu,    ///< Its pool no longer has its type.
  kAbandoned,  ///< The outside scheduler of its pool is silent for too long.
};

/// The host counts for its pool's maximum, as one that no other rule ends.
[[nodiscard]] bool counts_for_max(const HostView& host);

/// As shown: "beyond_max"; "" for kNo.
[[nodiscard]] const char* to_string(Closed closed);

/// What else the order depends on in which hosts are closed. Left out: no host is young, and all
/// are in one zone.
struct ClosingOrder {
  Mono now = Mono::max();
  const std::vector<Offering>* offerings = nullptr;  ///< As of Snapshot.
};

/// Which hosts are closed, by index into `hosts`. If a pool is beyond its maximum, hosts that boot
/// and for which nothing waits are closed first, then idle hosts, then others that boot, then hosts
/// with work; of each kind the newest first. Where PoolNumbers::goes_by_load, LeaveOrder comes
/// before that. Young hosts are the last of their kind (lifetime.h). Hosts that are kept stay.
/// Hosts that will go anyway count first. In pools of outside schedulers: those that are idle for
/// too long or go anyway (agents.h), unfulfilled spot requests, idle, lost, coming, and last those
/// that do not go now. `bounds`: of each pool of the policy. `set_aside` as of
/// Snapshot; `classes`: the waiting work. O(hosts x log hosts), and O(hosts x classes) of a pool
/// that is beyond its maximum.
[[nodiscard]] std::vector<Closed> closed_hosts(const std::vector<HostView>& hosts,
                                               const std::vector<PoolNumbers>& bounds,
                                               const std::vector<std::int64_t>& set_aside,
                                               const std::vector<demand::ClassView>& classes,
                                               const model::SitePolicy& policy,
                                               const ClosingOrder& order = {});

/// For people: "pool default: 3 hosts are beyond its maximum of 2 (1 idle), 1 host has a type that
/// left the menu"; empty: no host is closed. Each host is counted once.
[[nodiscard]] std::string text_of(const std::vector<HostView>& hosts,
                                  const std::vector<Closed>& closed,
                                  const model::SitePolicy& policy,
                                  const std::vector<PoolNumbers>& bounds);

}  // namespace hostler::scheduler

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "core/scheduler/snapshot.h"

/// Which of equal hosts of a pool goes first, where PoolNumbers::goes_by_load: the one that
/// HostView::rank says is least loaded, and last those of which it is unknown; of equal load one of
/// the zone that has most hosts.
namespace hostler::scheduler {

/// For the hosts of one pool that go in one plan. The arguments outlive it.
class LeaveOrder {
 public:
  /// `alive`: the hosts of the pool, by index into `hosts`. O(alive).
  LeaveOrder(const std::vector<HostView>& hosts, const std::vector<Offering>& offerings,
             std::span<const std::uint32_t> alive);
  /// Puts hosts in the order in which they go. They are equal but for load and zone, and in the
  /// order that counts after these. They go before those of the next call.
  /// O(n log n + n x zones).
  void arrange(std::span<std::uint32_t> equal);

 private:
  [[nodiscard]] std::string_view zone(std::uint32_t host) const;
  void even_out(std::span<std::uint32_t> equal);

  const std::vector<HostView>& hosts_;
  const std::vector<Offering>& offerings_;
  std::map<std::string_view, std::int64_t> left_;  ///< Hosts by zone.
};

}  // namespace hostler::scheduler

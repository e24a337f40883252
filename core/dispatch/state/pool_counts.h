#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/demand/queue.h"
#include "core/dispatch/state/menu.h"
#include "core/scheduler/snapshot.h"

namespace hostler::dispatch {

/// What expressions may count of a pool: its hosts as its bounds count them, without those that go.
struct PoolCounts {
  std::int64_t started = 0;  ///< They come or are ready.
  /// These, and those that are switched off and kept, or may be: their set is closed.
  std::int64_t created = 0;
  std::int64_t idle = 0;     ///< Ready and without work.
  std::int64_t busy = 0;     ///< Ready and with work.
  std::int64_t adopted = 0;  ///< Started, and it is not known yet whether they are idle or busy.
  std::int64_t queued = 0;   ///< Items of work that wait and may run in the pool.

  /// Why `idle` and `busy` are not known; empty: they are.
  [[nodiscard]] std::string unverified_text() const {
    if (adopted == 0) return {};
    return std::to_string(adopted) + (adopted == 1 ? " host is" : " hosts are") +
           " not verified since the restart";
  }
};

/// Of each pool, without `queued`. O(hosts).
[[nodiscard]] std::vector<PoolCounts> count_hosts(std::size_t pools,
                                                  const std::vector<scheduler::HostView>& hosts);

/// Counts the work that waits, by the pools that may run it, at one moment. The queue, the
/// offerings and the policy must outlive it.
class QueueCounts {
 public:
  /// O(offerings).
  QueueCounts(const demand::Queue& queue, const std::vector<scheduler::Offering>& offerings,
              const model::SitePolicy& policy);

  /// Items that wait and fit some offering of the pool: its `queued`. An item that several pools
  /// may run counts in each. O(classes x offerings of the pool) for the first time.
  [[nodiscard]] std::int64_t of(std::uint32_t pool);

 private:
  [[nodiscard]] std::int64_t count(std::uint32_t pool) const;

  const demand::Queue& queue_;
  const model::SitePolicy& policy_;
  std::vector<std::vector<const scheduler::Offering*>> offerings_;  ///< By pool.
  std::vector<std::optional<std::int64_t>> counted_;                ///< By pool.
};

}  // namespace hostler::dispatch

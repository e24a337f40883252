#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/set_aside.h"
#include "core/scheduler/bounds.h"

namespace hostler::dispatch {

/// What sources other than the configuration say of the bounds of pools, and the numbers that
/// follow.
class PoolBounds {
 public:
  /// Replaces all that the source has said of the pool; `all` is of this source. Request a plan
  /// then.
  void say(std::uint32_t pool, std::string_view source, std::vector<scheduler::Bound> all);
  /// What has ended by now is unknown until its source says something else.
  void expire(Mono now);
  /// When the next of them ends; kNever: none does.
  [[nodiscard]] Mono next_end() const;
  [[nodiscard]] const scheduler::BoundsByPool& by_pool() const { return by_pool_; }

  /// How many hosts there may be: the maximum of created ones where there are created bounds,
  /// otherwise that of started ones. The ceiling of the pool, or kBoundMax without one, where that
  /// is unknown or not said. O(sets).
  [[nodiscard]] std::int64_t hosts_max(const model::SitePolicy& policy, std::uint32_t pool) const;
  /// PoolNumbers::off_max() of the pool, which does not depend on its hosts. O(1).
  [[nodiscard]] std::int64_t off_max(const model::SitePolicy& policy, std::uint32_t pool) const;
  /// Of each pool, the configuration included. After Hosts::refresh_views(). O(pools), and O(hosts)
  /// while a bound is unknown.
  [[nodiscard]] std::vector<scheduler::PoolNumbers> numbers(const model::SitePolicy& policy,
                                                            const Hosts& hosts,
                                                            const SetAside& set_aside) const;
  /// The same of one pool. O(1), and O(hosts) while a bound of it is unknown.
  [[nodiscard]] scheduler::PoolNumbers numbers(const model::SitePolicy& policy, const Hosts& hosts,
                                               const SetAside& set_aside, std::uint32_t pool) const;

 private:
  scheduler::BoundsByPool by_pool_;
};

}  // namespace hostler::dispatch

#pragma once

#include <cstdint>

#include "core/model/policy.h"

/// How many hosts a pool may have by the fixed limits of the configuration (`instances_max`).
namespace hostler::model {

/// The limits that hold for one pool; 0: there is none.
struct HostCeilings {
  std::int64_t pool = 0;  ///< Its own.
  std::int64_t sets = 0;  ///< Its sets' together; 0 also if one of them has none.
  std::int64_t site = 0;

  /// The lowest of these that there are; 0: there is none.
  [[nodiscard]] std::int64_t lowest() const;
};

/// O(sets).
[[nodiscard]] HostCeilings host_ceilings(const SitePolicy& site, const PoolPolicy& pool);

}  // namespace hostler::model

#pragma once

#include <optional>
#include <string>

#include "core/demand/lane_caps.h"
#include "core/demand/shares.h"
#include "core/model/quotas.h"

namespace hostler::demand {

/// A waiting item that is beyond the running limits of its principal, with what decides that.
struct BeyondLimits {
  std::string principal;
  model::Vcpus vcpus;              ///< What the item needs.
  std::optional<PartPrices> part;  ///< What its part of a host costs; unset: it fits no offering.
  model::Quota quota;              ///< Of the principal.
  Shares::Held held;               ///< What the principal holds of hosts now.
};

/// Why the item waits, for people: it is beyond a limit alone, or the principal's running work and
/// earlier items take the rest of the limit.
[[nodiscard]] std::string reason_of(const BeyondLimits& item);

}  // namespace hostler::demand

#pragma once

#include <string>

#include "core/model/amounts.h"
#include "core/model/quotas.h"

namespace hostler::demand {

/// A waiting item that is beyond the running limits of its principal, with what decides that.
struct BeyondLimits {
  std::string principal;
  model::Amounts part;  ///< What it holds of a host at least; price 0: it fits no offering.
  model::Quota quota;   ///< Of the principal.
  model::Amounts held;  ///< What the principal holds of hosts now.
};

/// Why the item waits, for people: it is beyond a limit alone, or the principal's running work and
/// earlier items take the rest of the limit.
[[nodiscard]] std::string reason_of(const BeyondLimits& item);

}  // namespace hostler::demand

#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/policy.h"
#include "core/scheduler/snapshot.h"

namespace hostler::dispatch {

/// A gang of this shape can be held together one day, by the maximums of its pools, all ceilings
/// and the quota of its principal. Else kInvalidArgument or kOverQuota: the message names the
/// limit.
[[nodiscard]] Result<void> check_gang(const model::WorkShape& shape, const std::string& principal,
                                      const std::vector<scheduler::Offering>& offerings,
                                      const model::SitePolicy& policy);

}  // namespace hostler::dispatch

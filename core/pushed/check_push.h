#pragma once

#include "core/base/error.h"
#include "core/model/push.h"

namespace hostler::pushed {

/// Whether a push that somebody sent is one: the limits of core/model/push.h, no name twice.
/// kTooLarge: too many agents or tasks. kInvalidArgument: anything else; `path` says where.
/// O(agents + tasks).
[[nodiscard]] Result<void> check_push(const model::Push& push);

}  // namespace hostler::pushed

#pragma once

#include "core/base/time.h"

namespace hostler::fleet {

/// No deadline.
inline constexpr Mono kNever = Mono::max();

}  // namespace hostler::fleet

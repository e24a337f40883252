#pragma once

#include "core/fleet/instance.h"

namespace hostler::fleet {

/// What has become of the boot of a new instance.
enum class Boot : std::uint8_t {
  kUnderWay,
  kReady,
  kFailed,     ///< It did not come up, died within a minute of its create, or was broken before
               ///< its tool had told its cards.
  kUncounted,  ///< It ended by a decision of hostler or an admin, or was reclaimed, or refused, or
               ///< the cloud was short of it; or it waits without a deadline: it may be counted
               ///< later.
};

/// Pure; by the state that the instance is in now.
[[nodiscard]] Boot boot_of(const Instance& instance, Now now);

}  // namespace hostler::fleet

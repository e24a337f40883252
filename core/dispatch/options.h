#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dispatch/account_commands.h"
#include "core/dispatch/state/sets/strangers.h"

namespace hostler::dispatch {

/// What a dispatcher is told beside the policy. It does not change while it lives.
struct Options {
  std::vector<std::string> take_over_sets;  ///< Adopt these sets' instances of a foreign owner.
  std::uint64_t seed = 1;                   ///< Of the jitter of back-off.
  AdoptionLimits adoption = {};
  AccountCommands accounts = {};
};

}  // namespace hostler::dispatch

#pragma once

#include <cstdint>
#include <string>

#include "folder/instance_folder.h"

namespace hostler::local {

/// The facts that were read from the folder of an instance.
struct Evidence {
  Order order;
  State state;
  bool locked = false;        ///< A supervisor holds the lock.
  bool machine_runs = false;  ///< The first process of its pid namespace runs.
};

/// Work that must be completed.
enum class Remedy : std::uint8_t {
  kNone,
  kStart,   ///< Start the missing supervisor: a create or start was interrupted.
  kRemove,  ///< Remove the folder: the instance was destroyed and none of its processes runs.
};

/// The state of an instance for a listing, and the work that was interrupted and must be completed.
struct Condition {
  std::uint32_t state = 0;  ///< HOSTLER_STATE_*
  std::string reason;
  Remedy remedy = Remedy::kNone;
};

/// Derives the state from the facts. Pure.
Condition assess(const Evidence& evidence);

}  // namespace hostler::local

#pragma once

#include <cstdint>
#include <string>

#include "folder/instance_folder.h"

namespace hostler::local {

/// What a look at an instance's folder found.
struct Evidence {
  Order order;
  State state;
  bool locked = false;        ///< A supervisor has the lock.
  bool machine_runs = false;  ///< The first process of its pid namespace is there.
};

enum class Remedy : std::uint8_t {
  kNone,
  kStart,   ///< Its supervisor is missing: a create or start was cut short.
  kRemove,  ///< Nothing of it runs, and it is to go.
};

/// What that means for a listing, and what is to be done about it.
struct Sight {
  std::uint32_t state = 0;  ///< HOSTLER_STATE_*
  std::string reason;
  Remedy remedy = Remedy::kNone;
};

/// Pure.
Sight judge(const Evidence& evidence);

}  // namespace hostler::local

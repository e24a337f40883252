#pragma once

#include <cstdint>
#include <optional>

namespace hostler::agent {

/// The RAM of this host in bytes: what its kernel has, or less where a limit of a container holds
/// for all of it. The variable HOSTLER_RAM of the session replaces it. Unset: not known, or
/// HOSTLER_RAM is 0, for hosts that share the RAM of one machine.
std::optional<std::int64_t> ram_bytes();

}  // namespace hostler::agent

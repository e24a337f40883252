#pragma once

#include <vector>

#include "instance.h"

namespace hostler::lxd {

/// Where a container can be reached: its global addresses, first those of the network cards that
/// LXD gave it, then those of bridges and the like that it made itself; IPv4 before IPv6.
std::vector<Address> read_addresses(const Value& instance);

}  // namespace hostler::lxd

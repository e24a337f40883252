#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace hostler::local {

/// An address of 127.0.0.0/8 on which `port` is free and which is not in `taken`. `seed` makes it
/// likely that others find others. Empty where none of many was free: somebody has the port on all.
std::string free_address(const std::string& seed, std::int64_t port,
                         const std::set<std::string>& taken);

}  // namespace hostler::local

#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace hostler::local {

/// Finds an address in 127.0.0.0/8 that is not in `taken` and on which `port` is free. Different
/// seeds usually give different addresses. Empty if no address was free after many tries, for
/// example because a program listens on the port on all addresses.
std::string free_address(const std::string& seed, std::int64_t port,
                         const std::set<std::string>& taken);

}  // namespace hostler::local

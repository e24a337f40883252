#pragma once

#include <cstdint>
#include <hostler/driver.hpp>
#include <map>
#include <string>
#include <vector>

/// The lists of a record in the form of the ABI. They point into what they are made of, which must
/// outlive them.
namespace hostler::driver {

struct Address {
  std::string text;
  std::uint32_t scope = 0;  ///< HOSTLER_ADDRESS_*
};

inline std::vector<hostler_kv> to_abi(const std::map<std::string, std::string>& tags) {
  std::vector<hostler_kv> out;
  out.reserve(tags.size());
  for (const auto& [key, value] : tags) out.push_back({str(key), str(value)});
  return out;
}

inline std::vector<hostler_address> to_abi(const std::vector<Address>& addresses) {
  std::vector<hostler_address> out;
  out.reserve(addresses.size());
  for (const Address& one : addresses) out.push_back({one.scope, 0, str(one.text)});
  return out;
}

}  // namespace hostler::driver

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hostler::ec2 {

/// The group of types that share a quota of vCPUs: "standard", "standard-spot", "g", ... Empty for
/// what is no name of a type. \param own names by the beginning of a type, before those of EC2.
std::string quota_group_of(std::string_view type, std::uint32_t market,
                           const std::map<std::string, std::string>& own);

}  // namespace hostler::ec2

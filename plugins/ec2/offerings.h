#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "answer.h"
#include "prices.h"

namespace hostler::ec2 {

/// Equal GPUs of a type.
struct GpuGroup {
  std::string kind;  ///< Empty: not known.
  std::uint64_t memory_bytes = 0;
  std::uint32_t count = 0;
};

/// A type as EC2 describes it.
struct InstanceType {
  std::string name, architecture;  ///< The architecture as `uname -m` says it.
  std::uint64_t ram_bytes = 0, scratch_bytes = 0;
  std::uint32_t vcpus = 0, gpus = 0;
  std::vector<GpuGroup>
      gpu_groups;  ///< Of all its GPUs. Chips for inference and training are none.
  bool on_demand = false, spot = false;
};

/// Throws NoAnswer(TRANSIENT) if `item` has no name. The architecture is empty if hostler has none
/// of it.
InstanceType read_instance_type(const Node& item);

/// A type in a zone and a market.
struct Offered {
  const InstanceType* type = nullptr;
  std::string zone;
  std::uint32_t market = 0;  ///< HOSTLER_MARKET_*
  std::int64_t micros_per_hour = -1;
};

/// \param zones of each type. \param market HOSTLER_MARKET_*, ANY: both.
std::vector<Offered> offered(const std::vector<InstanceType>& types,
                             const std::map<std::string, std::vector<std::string>>& zones,
                             const std::map<std::string, std::int64_t>& on_demand,
                             const std::vector<SpotPrice>& spot, std::uint32_t market);

/// "aarch64" for "arm64"; empty for what is neither this nor x86_64.
std::string architecture_of(std::string_view name);

}  // namespace hostler::ec2

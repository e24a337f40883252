#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dials.h"
#include "prices.h"

namespace hostler::local {

/// The configuration of one provider type.
struct TypeConfig {
  std::optional<std::int64_t> stock;             ///< Maximum number of instances in all zones.
  std::map<std::string, std::int64_t> stock_in;  ///< The same by zone; no entry: unlimited.
  std::vector<PriceChange> prices;
  std::int64_t vcpus = 0;  ///< 0: it is not offered.
  std::int64_t gpus = 0, ram_gib = 0, scratch_gib = 0;
  std::string architecture;
};

struct Config {
  std::string root;
  std::string region;
  std::string currency;
  std::vector<std::string> zones;
  std::int64_t port = 0;
  std::int64_t instances_max = 0;
  std::int64_t boot_delay_ms = 0;
  std::string sshd, ssh_keygen, supervisor;
  std::string confinement;
  /// Empty: every type is available, without limit.
  std::map<std::string, TypeConfig> types;
  Dials dials;
};

/// The JSON Schema of the config, for people and tools. read_config() checks more than the schema.
extern const char* const kConfigSchema;

/// Parses the config. Throws driver::Error(HOSTLER_E_INVALID) that names the field. No I/O.
Config read_config(const std::string& json);

}  // namespace hostler::local

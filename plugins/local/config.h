#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dials.h"
#include "prices.h"

namespace hostler::local {

/// What is configured for one provider type.
struct TypeConfig {
  std::optional<std::int64_t> stock;             ///< Instances at once, all zones together.
  std::map<std::string, std::int64_t> stock_in;  ///< Likewise by zone; a zone left out has plenty.
  std::vector<PriceChange> prices;
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
  /// Empty: every type can be had, without limit.
  std::map<std::string, TypeConfig> types;
  Dials dials;
};

/// The config as JSON Schema, for people and tools; read_config checks more.
extern const char* const kConfigSchema;

/// Throws driver::Error(HOSTLER_E_INVALID) that names the field. Reads nothing but the text.
Config read_config(const std::string& json);

}  // namespace hostler::local

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::lxd {

/// What is given to containers beside what hostler itself sets.
struct InstanceConfig {
  std::vector<std::string> profiles;          ///< Their names, the last one wins.
  std::map<std::string, std::string> config;  ///< Keys of LXD, such as limits.processes.
};

/// One entry of the list from which hostler chooses by size and price.
struct Size {
  std::string name;  ///< The provider_type of a type.
  std::int64_t vcpus = 0, ram_bytes = 0, scratch_bytes = 0;
  std::int64_t price_micros = -1;  ///< Per hour; -1: not said.
};

struct Config {
  std::string socket;  ///< A path; or, if it is empty, url.
  std::string url;     ///< "https://host:port"
  /// SHA-256 of the server's certificate, 64 hexadecimal digits; empty: authorities vouch for it.
  std::string server_certificate_sha256;
  std::string ca_file;  ///< Of those authorities; empty: the system's.
  std::string project;
  std::string region;
  std::string image;  ///< Alias or fingerprint; empty: the types name theirs.
  InstanceConfig instance;
  bool limits_from_type = true;
  std::vector<Size> sizes;
  std::string currency;  ///< Of their prices; empty: there are none.

  /// Null if there is none of this name.
  [[nodiscard]] const Size* size(std::string_view name) const;
};

/// SECRET: how this driver proves to a server who it is. Empty with a unix socket.
struct Credentials {
  std::string client_certificate, client_key;  ///< PEM
};

/// The JSON Schema of the config, for people and tools. read_config() checks more than the schema.
extern const char* const kConfigSchema;

/// These throw driver::Error(HOSTLER_E_INVALID) that names the field. No I/O.
Config read_config(const std::string& json);
/// `json` is empty or an object.
Credentials read_credentials(const std::string& json, const Config& config);
/// `types[].provider_params` over what the set has: its profiles instead, its config beside. A
/// virtual machine is UNSUPPORTED.
InstanceConfig read_params(const std::string& json, const InstanceConfig& of_set);

}  // namespace hostler::lxd

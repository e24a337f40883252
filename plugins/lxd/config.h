#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hostler::lxd {

/// What is given to containers beside what hostler itself sets.
struct InstanceConfig {
  std::vector<std::string> profiles;          ///< Their names, the last one wins.
  std::map<std::string, std::string> config;  ///< Keys of LXD, such as limits.processes.
};

struct Config {
  std::string socket;  ///< A path; or, if it is empty, url.
  std::string url;     ///< "https://host:port"
  /// SHA-256 of the server's certificate, 64 hexadecimal digits; empty: authorities vouch for it.
  std::string server_certificate_sha256;
  std::string ca_file;  ///< Of those authorities; empty: the system's.
  std::string project;
  std::string region;
  std::string image;        ///< Alias or fingerprint; empty: the types name theirs.
  std::string remote_user;  ///< Who logs in.
  InstanceConfig instance;
  bool limits_from_type = true;
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

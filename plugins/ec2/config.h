#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::ec2 {

/// What is asked for instances where the request says nothing; `provider_params` of a type replace
/// members.
struct InstanceDefaults {
  std::string volume_type;  ///< Of disks that are asked for: "gp3".
  bool encrypted = false;   ///< All disks that are asked for.
  std::string kms_key;      ///< Empty: the account's default.
  std::int64_t metadata_hop_limit = 1;
};

struct Config {
  std::string region;
  std::string endpoint, sts_endpoint;  ///< "https://HOST[:PORT]", never empty.
  std::string metadata_endpoint;       ///< Of the instance role's credentials.
  std::string ca_file;                 ///< Empty: the system's.
  std::string role_arn, role_external_id;
  std::string image, key_name, instance_profile;  ///< Each may be empty.
  std::vector<std::string> subnets, security_groups;
  InstanceDefaults instance;
  std::vector<std::string> types;  ///< Names for the offerings; `*` stands for any text.
  std::string prices_file;         ///< Of on-demand prices; empty: none are known.
  std::map<std::string, std::string> quota_groups;  ///< By the beginning of a type's name.
  std::int64_t spot_price_interval_ms = 0;
  std::int64_t list_consistency_ms = 0;  ///< For how long a list may not show a change.
  std::int64_t interruption_interval_ms = 0;
};

/// SECRET: how this driver proves who it is. All empty: by the role of the machine it runs on.
struct Credentials {
  std::string access_key_id, secret_access_key, session_token;
};

/// The JSON Schema of the config, for people and tools. read_config() checks more than the schema.
extern const char* const kConfigSchema;

/// These throw driver::Error(HOSTLER_E_INVALID) that names the field. No I/O.
Config read_config(const std::string& json);
/// `json` is empty or an object: in the driver's own form or as Amazon's `credential_process` has
/// it.
Credentials read_credentials(const std::string& json);
/// `types[].provider_params` over what the set has.
InstanceDefaults read_params(const std::string& json, const InstanceDefaults& of_set);

/// "https://ec2.eu-central-1.amazonaws.com". \param service "ec2" or "sts".
std::string endpoint_of(std::string_view service, std::string_view region, bool fips);

}  // namespace hostler::ec2

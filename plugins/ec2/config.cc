#include "config.h"

#include <algorithm>
#include <array>
#include <hostler/driver.hpp>
#include <hostler/json_object.hpp>

namespace hostler::ec2 {
namespace {

using driver::JsonObject;

/// Of "HOST" or "HOST:PORT".
bool is_loopback(std::string_view address) {
  const std::size_t port = address.rfind(':');
  const bool has_port = port != std::string_view::npos &&
                        address.find_first_not_of("0123456789", port + 1) == std::string_view::npos;
  const std::string_view host = address.substr(0, has_port ? port : address.size());
  const bool is_numeric = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "[::1]" || (is_numeric && host.substr(0, 4) == "127.");
}

std::string read_endpoint(JsonObject& json, const char* key, const std::string& fallback) {
  std::string url = json.text(key, fallback);
  const std::size_t begin = url.compare(0, 8, "https://") == 0  ? 8
                            : url.compare(0, 7, "http://") == 0 ? 7
                                                                : 0;
  const bool good =
      begin != 0 && url.size() > begin && url.find_first_of("/?# @", begin) == std::string::npos &&
      (begin == 8 || is_loopback(std::string_view(url).substr(begin)) || url == fallback);
  if (!good)
    json.refuse(key,
                "must be \"https://HOST:PORT\", without a path; http only for this machine itself");
  return url;
}

void read_addresses(JsonObject& json, Config& config) {
  config.region = json.text("region", "");
  const bool is_name =
      !config.region.empty() && config.region.size() <= 63 &&
      config.region.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (!is_name) json.refuse("region", "must be the name of a region, such as \"eu-central-1\"");
  const bool fips = json.boolean("fips", false);
  if (fips && json.has("endpoint")) json.refuse("fips", "and endpoint exclude each other");
  config.endpoint = read_endpoint(json, "endpoint", endpoint_of("ec2", config.region, fips));
  config.sts_endpoint =
      read_endpoint(json, "sts_endpoint", endpoint_of("sts", config.region, fips));
  config.metadata_endpoint = read_endpoint(json, "metadata_endpoint", "http://169.254.169.254");
  if (json.has("ca_file")) config.ca_file = json.path("ca_file", "");
  config.role_arn = json.text("role_arn", "");
  if (json.has("role_arn") && config.role_arn.compare(0, 4, "arn:") != 0)
    json.refuse("role_arn", "must be the ARN of a role: \"arn:aws:iam::123456789012:role/NAME\"");
  config.role_external_id = json.text("role_external_id", "");
  if (json.has("role_external_id") && config.role_arn.empty())
    json.refuse("role_external_id", "needs role_arn");
}

std::vector<std::string> read_ids(JsonObject& json, const char* key, const char* begin) {
  std::vector<std::string> out = json.texts(key);
  for (const std::string& one : out)
    if (one.compare(0, std::string_view(begin).size(), begin) != 0)
      json.refuse(key, "has \"" + one + "\"; needed: ids that begin with \"" + begin + "\"");
  return out;
}

InstanceDefaults read_defaults(JsonObject& json, const InstanceDefaults& before) {
  InstanceDefaults out = before;
  out.volume_type = json.text("volume_type", before.volume_type);
  if (out.volume_type.empty()) json.refuse("volume_type", "is empty");
  out.encrypted = json.boolean("encrypted", before.encrypted);
  out.kms_key = json.text("kms_key", before.kms_key);
  out.metadata_hop_limit = json.integer("metadata_hop_limit", before.metadata_hop_limit, 1, 64);
  return out;
}

void read_quota_groups(JsonObject& json, Config& config) {
  auto groups = json.object("quota_groups");
  if (!groups) return;
  for (const std::string& begin : groups->keys()) {
    const std::string name = groups->text(begin.c_str(), "");
    const bool good =
        !name.empty() && name.size() <= 48 &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
    if (!good) groups->refuse(begin, "must be 1 to 48 of a-z, 0-9, _ and -");
    config.quota_groups[begin] = name;
  }
}

}  // namespace

std::string endpoint_of(std::string_view service, std::string_view region, bool fips) {
  struct Partition {
    std::string_view begin, suffix;
  };
  constexpr std::array kPartitions{
      Partition{"cn-", "amazonaws.com.cn"}, Partition{"us-isob-", "sc2s.sgov.gov"},
      Partition{"us-iso-", "c2s.ic.gov"}, Partition{"eusc-", "amazonaws.eu"},
      Partition{"", "amazonaws.com"}};
  const auto* const partition = std::find_if(
      kPartitions.begin(), kPartitions.end(),
      [&](const Partition& one) { return region.substr(0, one.begin.size()) == one.begin; });
  return "https://" + std::string(service) + (fips ? "-fips." : ".") + std::string(region) + "." +
         std::string(partition->suffix);
}

Config read_config(const std::string& text) {
  rapidjson::Document document;
  auto json = JsonObject::parse(text, document);
  Config config;
  read_addresses(json, config);
  config.image = json.text("image", "");
  config.key_name = json.text("key_name", "");
  if (json.has("remote_user")) json.refuse("remote_user", "was removed: use sets[].remote_user");
  config.instance_profile = json.text("instance_profile", "");
  config.subnets = read_ids(json, "subnets", "subnet-");
  config.security_groups = read_ids(json, "security_groups", "sg-");
  config.instance = read_defaults(json, {"gp3", false, "", 1});
  config.types = json.texts("types");
  if (config.types.size() > 100) json.refuse("types", "has more than 100 entries");
  if (json.has("prices_file")) config.prices_file = json.path("prices_file", "");
  read_quota_groups(json, config);
  config.spot_price_interval_ms = json.duration_ms("spot_price_interval", 300'000);
  config.list_consistency_ms = json.duration_ms("list_consistency", 60'000);
  config.interruption_interval_ms = json.duration_ms("interruption_interval", 10'000);
  if (config.interruption_interval_ms < 100) json.refuse("interruption_interval", "is below 100ms");
  json.refuse_unknown_keys();
  return config;
}

InstanceDefaults read_params(const std::string& text, const InstanceDefaults& of_set) {
  rapidjson::Document document;
  auto json = JsonObject::parse(text.empty() ? "{}" : text, document, "provider_params");
  InstanceDefaults out = read_defaults(json, of_set);
  json.refuse_unknown_keys();
  return out;
}

}  // namespace hostler::ec2

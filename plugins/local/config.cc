#include "config.h"

#include <algorithm>
#include <hostler/driver.hpp>
#include <hostler/json_object.hpp>
#include <utility>

namespace hostler::local {
namespace {

using driver::JsonObject;

const std::vector<std::pair<std::string, hostler_status>> kClasses = {
    {"INTERNAL", HOSTLER_E_INTERNAL},
    {"INVALID", HOSTLER_E_INVALID},
    {"UNSUPPORTED", HOSTLER_E_UNSUPPORTED},
    {"CONFLICT", HOSTLER_E_CONFLICT},
    {"AUTH", HOSTLER_E_AUTH},
    {"RATE_LIMIT", HOSTLER_E_RATE_LIMIT},
    {"QUOTA", HOSTLER_E_QUOTA},
    {"CAPACITY", HOSTLER_E_CAPACITY},
    {"TRANSIENT", HOSTLER_E_TRANSIENT},
    {"TIMEOUT", HOSTLER_E_TIMEOUT}};
const std::vector<std::pair<std::string, std::uint32_t>> kScopes = {
    {"TYPE", HOSTLER_SCOPE_TYPE},     {"GROUP", HOSTLER_SCOPE_GROUP},
    {"ZONE", HOSTLER_SCOPE_ZONE},     {"REGION", HOSTLER_SCOPE_REGION},
    {"MARKET", HOSTLER_SCOPE_MARKET}, {"OPERATION", HOSTLER_SCOPE_OPERATION},
    {"SUBNET", HOSTLER_SCOPE_SUBNET}, {"ACCOUNT", HOSTLER_SCOPE_ACCOUNT}};
constexpr std::int64_t kCountMax = 1'000'000;

template <class T>
std::vector<std::string> names(const std::vector<std::pair<std::string, T>>& table) {
  std::vector<std::string> list;
  for (const auto& [name, value] : table) list.push_back(name);
  return list;
}

/// The path becomes part of sshd's config: refuses characters that have a meaning there.
void check_plain(const JsonObject& json, const char* key, const std::string& path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string("/._-+@,=").find(static_cast<char>(c)) != std::string::npos;
  });
  if (!plain) json.refuse(key, "may contain only letters, digits and / . _ - + @ , =");
}

std::uint32_t read_market(JsonObject& json) {
  return static_cast<std::uint32_t>(
      json.choice("market", {"any", "on_demand", "spot"}, HOSTLER_MARKET_ANY));
}

void check_zone(const Config& config, const JsonObject& json, const std::string& key,
                const std::string& zone) {
  if (std::find(config.zones.begin(), config.zones.end(), zone) == config.zones.end())
    json.refuse(key, "names the zone \"" + zone + "\", which is not in `zones`");
}

TypeConfig read_type(const Config& config, JsonObject json) {
  TypeConfig type;
  if (json.is_number("stock")) {
    type.stock = json.integer("stock", 0, 0, kCountMax);
  } else if (auto by_zone = json.object("stock")) {
    for (const std::string& zone : by_zone->keys()) {
      check_zone(config, *by_zone, zone, zone);
      type.stock_in[zone] = by_zone->integer(zone.c_str(), 0, 0, kCountMax);
    }
  }
  type.vcpus = json.integer("vcpus", 0, 0, kCountMax);
  type.gpus = json.integer("gpus", 0, 0, kCountMax);
  type.ram_gib = json.integer("ram_gib", 0, 0, kCountMax);
  type.scratch_gib = json.integer("scratch_gib", 0, 0, kCountMax);
  type.architecture = json.text("architecture", "");
  for (JsonObject& price : json.objects("prices")) {
    PriceChange change;
    change.zone = price.text("zone", "");
    if (!change.zone.empty()) check_zone(config, price, "zone", change.zone);
    change.market = read_market(price);
    change.from_unix_ns = price.time_ns("from", 0);
    if (!price.has("micros_per_hour")) price.refuse("micros_per_hour", "is missing");
    change.micros_per_hour = price.integer("micros_per_hour", 0, 0, 1'000'000'000'000);
    price.refuse_unknown_keys();
    type.prices.push_back(change);
  }
  json.refuse_unknown_keys();
  return type;
}

std::vector<Dials::Failure> read_failures(JsonObject& json, const char* key) {
  std::vector<Dials::Failure> failures;
  for (JsonObject& item : json.objects(key)) {
    Dials::Failure failure;
    failure.count = item.integer("count", 1, 0, kCountMax);
    failure.type = item.text("type", "");
    if (!item.has("class")) item.refuse("class", "is missing");
    failure.status = kClasses[item.choice("class", names(kClasses), 0)].second;
    for (const std::string& scope : item.texts("scope")) {
      const auto found = std::find_if(kScopes.begin(), kScopes.end(),
                                      [&](const auto& known) { return known.first == scope; });
      if (found == kScopes.end())
        item.refuse("scope", "has \"" + scope + "\", which is not a scope");
      failure.scope |= found->second;
    }
    failure.retry_after_ms = item.duration_ms("retry_after", -1);
    failure.outcome_unknown = item.choice("outcome", {"none", "unknown"}, 0) == 1;
    failure.message = item.text("message", std::string("caused by the test dial ") + key);
    item.refuse_unknown_keys();
    failures.push_back(failure);
  }
  return failures;
}

Dials read_dials(JsonObject json) {
  Dials dials;
  dials.create_errors = read_failures(json, "create_errors");
  dials.list_errors = read_failures(json, "list_errors");
  dials.destroy_errors = read_failures(json, "destroy_errors");
  dials.create_reply_lost = json.integer("create_reply_lost", 0, 0, kCountMax);
  dials.create_delay_ms = json.duration_ms("create_delay", 0);
  dials.list_delay_ms = json.duration_ms("list_delay", 0);
  dials.destroy_delay_ms = json.duration_ms("destroy_delay", 0);
  dials.key_change = static_cast<Dials::KeyChange>(
      json.choice("host_key_changes", {"never", "before_sshd", "after_sshd"}, 0));
  dials.key_change_after_ms = json.duration_ms("host_key_changes_after", 0);
  dials.sshd_delay_ms =
      json.text("sshd_starts", "") == "never" ? -1 : json.duration_ms("sshd_starts", 0);
  dials.interruptions = static_cast<Dials::Interruptions>(
      json.choice("interruptions", {"none", "watch", "list", "both"}, 0));
  json.refuse_unknown_keys();
  return dials;
}

}  // namespace

Config read_config(const std::string& text) {
  rapidjson::Document document;
  auto json = driver::JsonObject::parse(text, document);
  Config config;
  if (!json.has("root"))
    json.refuse("root", "is missing; it names the folder for the files of all instances");
  config.root = json.path("root", "");
  while (config.root.size() > 1 && config.root.back() == '/') config.root.pop_back();
  check_plain(json, "root", config.root);
  config.region = json.text("region", "local");
  config.currency = json.text("currency", "USD");
  config.zones = json.texts("zones");
  if (config.zones.empty()) config.zones = {"local"};
  config.port = json.integer("port", 2200, 1, 65535);
  config.instances_max = json.integer("instances_max", 200, 0, kCountMax);
  config.boot_delay_ms = json.duration_ms("boot_delay", 0);
  config.sshd = json.path("sshd", "/usr/sbin/sshd");
  config.ssh_keygen = json.path("ssh_keygen", "/usr/bin/ssh-keygen");
  if (json.has("supervisor")) config.supervisor = json.path("supervisor", "");
  const std::vector<std::string> confinements = {"auto", "namespaces", "subreapers"};
  config.confinement = confinements[json.choice("confinement", confinements, 0)];
  if (auto types = json.object("types"))
    for (const std::string& name : types->keys())
      config.types[name] = read_type(config, *types->object(name.c_str()));
  if (auto dials = json.object("dials")) config.dials = read_dials(*dials);
  json.refuse_unknown_keys();
  return config;
}

}  // namespace hostler::local

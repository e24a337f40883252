#include "config.h"

#include <algorithm>
#include <array>
#include <hostler/driver.hpp>
#include <hostler/json_object.hpp>
#include <string_view>

namespace hostler::lxd {
namespace {

using driver::Error;
using driver::JsonObject;

bool is_fingerprint(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Keys of which the driver itself makes use, or that LXD keeps.
bool is_ours(std::string_view key) {
  constexpr std::array kOurs{"user.", "cloud-init.", "volatile.", "image."};
  return std::any_of(kOurs.begin(), kOurs.end(),
                     [&](std::string_view begin) { return key.substr(0, begin.size()) == begin; });
}

std::map<std::string, std::string> read_keys(JsonObject json) {
  std::map<std::string, std::string> out;
  for (const std::string& key : json.keys()) {
    if (is_ours(key)) json.refuse(key, "is set by hostler or by LXD itself");
    out[key] = json.text(key.c_str(), "");
    if (out[key].empty()) json.refuse(key, "is empty");
  }
  return out;
}

InstanceConfig read_instance_config(JsonObject& json, const InstanceConfig& before) {
  InstanceConfig out = before;
  if (json.has("profiles")) out.profiles = json.texts("profiles");
  if (auto keys = json.object("config"))
    for (const auto& [key, value] : read_keys(*keys)) out.config[key] = value;
  return out;
}

void read_address(JsonObject& json, Config& config) {
  if (json.has("socket") == json.has("url"))
    json.refuse("socket", "or url must be there, and not both");
  if (json.has("socket")) config.socket = json.path("socket", "");
  if (config.socket.size() > 107) json.refuse("socket", "is longer than 107 bytes");
  config.url = json.text("url", "");
  const bool good =
      config.url.empty() || (config.url.compare(0, 8, "https://") == 0 && config.url.size() > 8 &&
                             config.url.find_first_of("/?# @", 8) == std::string::npos);
  if (!good) json.refuse("url", "must be \"https://HOST:PORT\", without a path");
  config.server_certificate_sha256 = json.text("server_certificate_sha256", "");
  if (json.has("server_certificate_sha256") && !is_fingerprint(config.server_certificate_sha256))
    json.refuse("server_certificate_sha256",
                "must be 64 digits 0-9 and a-f: `lxc info` shows certificate_fingerprint");
  if (json.has("ca_file")) config.ca_file = json.path("ca_file", "");
  for (const char* key : {"server_certificate_sha256", "ca_file"})
    if (json.has(key) && config.url.empty()) json.refuse(key, "needs url");
  if (json.has("ca_file") && json.has("server_certificate_sha256"))
    json.refuse("ca_file", "and server_certificate_sha256 exclude each other");
}

Size read_size(JsonObject json) {
  Size out;
  out.name = json.text("name", "");
  if (out.name.empty() || out.name.size() > 63) json.refuse("name", "must have 1 to 63 bytes");
  for (const char* key : {"vcpus", "ram"})
    if (!json.has(key)) json.refuse(key, "is missing");
  out.vcpus = json.integer("vcpus", 0, 1, 4096);
  out.ram_bytes = json.bytes("ram");
  if (out.ram_bytes == 0) json.refuse("ram", "is 0");
  out.scratch_bytes = json.bytes("scratch");
  out.price_micros = json.money_micros("price");
  json.refuse_unknown_keys();
  return out;
}

void read_sizes(JsonObject& json, Config& config) {
  config.currency = json.text("currency", "");
  const bool is_code =
      config.currency.size() == 3 &&
      config.currency.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
  if (json.has("currency") && !is_code)
    json.refuse("currency", "must be three letters of ISO 4217, such as \"USD\"");
  for (JsonObject& one : json.objects("sizes")) {
    Size size = read_size(one);
    if (config.size(size.name) != nullptr) one.refuse("name", "occurs twice");
    if (size.price_micros >= 0 && config.currency.empty()) one.refuse("price", "needs `currency`");
    config.sizes.push_back(std::move(size));
  }
  if (config.sizes.size() > 1000) json.refuse("sizes", "has more than 1,000 entries");
}

}  // namespace

const Size* Config::size(std::string_view name) const {
  const auto found =
      std::find_if(sizes.begin(), sizes.end(), [&](const Size& one) { return one.name == name; });
  return found == sizes.end() ? nullptr : &*found;
}

Config read_config(const std::string& text) {
  rapidjson::Document document;
  auto json = JsonObject::parse(text, document);
  Config config;
  read_address(json, config);
  config.project = json.text("project", "default");
  if (config.project.empty()) json.refuse("project", "is empty");
  config.region = json.text("region", "lxd");
  if (config.region.empty()) json.refuse("region", "is empty");
  config.image = json.text("image", "");
  if (json.has("remote_user")) json.refuse("remote_user", "was removed: use sets[].remote_user");
  config.instance = read_instance_config(json, {{"default"}, {}});
  config.limits_from_type = json.choice("limits", {"type", "none"}, 0) == 0;
  read_sizes(json, config);
  json.refuse_unknown_keys();
  return config;
}

Credentials read_credentials(const std::string& text, const Config& config) {
  Credentials out;
  driver::read_credentials_object(text, [&](const std::string& name,
                                            const rapidjson::Value& value) {
    std::string* const to = name == "client_certificate" ? &out.client_certificate
                            : name == "client_key"       ? &out.client_key
                                                         : nullptr;
    if (to == nullptr)
      driver::refuse_credentials(name + " is unknown; needed: client_certificate and client_key");
    if (!value.IsString()) driver::refuse_credentials(name + " must be text of a PEM file");
    to->assign(value.GetString(), value.GetStringLength());
  });
  if (out.client_certificate.empty() != out.client_key.empty())
    driver::refuse_credentials("client_certificate and client_key need each other");
  if (!config.url.empty() && out.client_key.empty())
    driver::refuse_credentials("with url, client_certificate and client_key are needed");
  return out;
}

InstanceConfig read_params(const std::string& text, const InstanceConfig& of_set) {
  rapidjson::Document document;
  auto json = JsonObject::parse(text.empty() ? "{}" : text, document, "provider_params");
  if (json.text("type", "container") != "container")
    throw Error(HOSTLER_E_UNSUPPORTED,
                "provider_params: type may be \"container\" only: hostler has not been tried with "
                "virtual machines of LXD");
  InstanceConfig out = read_instance_config(json, of_set);
  json.refuse_unknown_keys();
  return out;
}

}  // namespace hostler::lxd

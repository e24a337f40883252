#include "sdk/check/settings.h"

#include <utility>

#include "core/base/files.h"
#include "core/base/masked.h"
#include "core/base/units.h"
#include "core/json/reader.h"
#include "core/json/writer.h"

namespace hostler::check {
namespace {

constexpr std::size_t kFileMax = std::size_t{1} << 20U, kSecretMin = 6;
constexpr double kRateMin = 0.01, kRateMax = 10'000;
constexpr int kQuotaMax = 1'000'000;
constexpr std::string_view kFalse = "kit-canary-";

void read_type(json::Object& o, model::InstanceType& type) {
  o.need("provider_type").text(type.provider_type, {.bytes_max = 255, .bytes_min = 1});
  std::int32_t vcpus = 1;
  std::int64_t ram = std::int64_t{1} << 30U;
  o.may("vcpus").integer(vcpus, 1, 4096);
  o.may("ram").size(ram, 1, std::int64_t{1} << 50U);
  type.resources.ram = ram;
  type.resources.vcpus = vcpus;
  o.may("provider_params").object_text(type.provider_params_json, kFileMax);
}

void read_quirk(Settings& out, std::string_view name, const json::Field& value) {
  std::string why;
  if (name == "list_consistency") {
    Duration time{};
    if (value.duration(time, Duration{}, std::chrono::hours(1)))
      out.consistency = time, why = exact_duration(time);
  } else if (value.text(why, {.bytes_min = 1, .one_line = true})) {
    if (name == "no_list_by_ids")
      out.cannot_list_by_ids = true;
    else if (name == "no_set_tags")
      out.cannot_set_tags = true;
    else if (name == "forgets_keys")
      out.forgets_keys = true;
    else
      value.problem(
          "no such quirk; there are list_consistency, no_list_by_ids, no_set_tags, forgets_keys");
  }
  out.quirks.emplace_back(name, why);
}

std::optional<SiteName> read_site_name(json::Object& o) {
  const auto site = o.may("site");
  if (!site.present()) return std::nullopt;
  SiteName out;
  site.object([&](json::Object& in) {
    in.need("config").text(out.config, {.bytes_min = 1});
    in.need("set").text(out.set, {.bytes_min = 1});
    in.may("type").text(out.type);
  });
  return out;
}

/// What the site says holds in place of what the file could say.
Result<void> take_site(Settings& out, const SiteName& name) {
  out.site = HOSTLER_TRY(read_site(name));
  out.config_json = out.site->config_json;
  out.credentials_json = out.site->credentials_json;
  out.has_cloud = true;
  out.is_test_cloud = false;
  out.type = out.site->type;
  return {};
}

void read_file_into(Settings& out, json::Object& o) {
  const bool has_config = o.may("config").object_text(out.config_json, kFileMax);
  const auto credentials = o.may("credentials");
  const bool is_object = credentials.present() && credentials.value()->is(json::Kind::kObject);
  if (credentials.present() && !is_object)
    credentials.problem("must be an object");  // without the value, which may be secret
  const bool has_credentials = is_object && credentials.object_text(out.credentials_json, kFileMax);
  out.has_cloud = has_config || has_credentials;
  // What may be somebody's account is left alone unless the author says what it is.
  out.is_test_cloud = !out.has_cloud;
  o.may("test_cloud").boolean(out.is_test_cloud);
  o.may("endpoints").texts(out.endpoints, 8);
  o.may("type").object([&](json::Object& type) { read_type(type, out.type); });
  o.may("image_id").text(out.image_id);
  o.may("zone").text(out.zone);
  o.may("rate").number(out.rate, kRateMin, kRateMax);
  o.may("quota").integer(out.quota, 1, kQuotaMax);
  o.may("quirks").members(
      16, [&](std::string_view name, const json::Field& value) { read_quirk(out, name, value); });
}

/// Calls `visit` with each text.
template <class Visit>
void each_text(json::Value value, const Visit& visit) {
  if (value.is(json::Kind::kString)) visit(value.text());
  if (value.is(json::Kind::kArray) || value.is(json::Kind::kObject))
    for (const json::Value child : value.children()) each_text(child, visit);
}

/// Copies the value with another text in place of each of its texts.
template <class Change>
void write_changed(json::Writer& w, json::Value value, const Change& change) {
  if (value.is(json::Kind::kObject)) {
    w.begin_object();
    for (const json::Value child : value.children())
      w.key(child.key()), write_changed(w, child, change);
    w.end_object();
  } else if (value.is(json::Kind::kArray)) {
    w.begin_array();
    for (const json::Value child : value.children()) write_changed(w, child, change);
    w.end_array();
  } else if (value.is(json::Kind::kString)) {
    w.value(change(value));
  } else {
    w.value(value);
  }
}

}  // namespace

Result<Settings> read_settings(const std::filesystem::path& library,
                               const std::filesystem::path& config) {
  Settings out;
  out.type.name = "check";
  out.type.provider_type = "small";
  out.type.resources.vcpus = 1;
  out.type.resources.ram = std::int64_t{1} << 30U;
  const auto beside = library.parent_path() / "driver-check.json";
  std::error_code none;
  if (config.empty() && !std::filesystem::exists(beside, none)) return out;
  const auto& file = config.empty() ? beside : config;
  const std::string text = HOSTLER_TRY(read_file(file, kFileMax));
  std::optional<SiteName> site;
  const auto read = json::read_object(text, {.comments = true}, [&](json::Object& o) {
    read_file_into(out, o);
    site = read_site_name(o);
  });
  if (!read) return tl::unexpected(Error(read.error()).with_context(file.string()));
  if (site) HOSTLER_TRY(take_site(out, *site));
  return out;
}

std::vector<std::string> secrets_of(const Settings& settings) {
  std::vector<std::string> out;
  const auto document = json::Document::parse(
      settings.credentials_json.empty() ? "{}" : std::string_view(settings.credentials_json));
  if (!document) return out;
  each_text(document->root(), [&](std::string_view text) {
    if (text.size() >= kSecretMin) out.emplace_back(text);
  });
  return longest_first(std::move(out));
}

std::string false_credentials(const std::string& credentials_json) {
  std::string out;
  json::Writer w(out);
  const auto document = json::Document::parse(credentials_json.empty() ? "{}" : credentials_json);
  if (!document || document->root().size() == 0) {
    w.begin_object().member("token", std::string(kFalse) + "token-1").end_object();
    return out;
  }
  write_changed(w, document->root(), [](json::Value value) {
    return std::string(kFalse) + std::string(value.key()) + "-" +
           std::to_string(value.text().size());
  });
  return out;
}

std::string with_value(const std::string& config_json, std::string_view key,
                       std::string_view value_json) {
  std::string out;
  json::Writer w(out);
  const auto document = json::Document::parse(config_json);
  if (!document) return config_json;
  w.begin_object();
  for (const json::Value member : document->root().children())
    if (member.key() != key) w.key(member.key()).value(member);
  if (!value_json.empty()) w.key(key).raw(value_json);
  w.end_object();
  return out;
}

std::string with_text(const std::string& config_json, std::string_view key, std::string_view text) {
  std::string quoted;
  json::Writer(quoted).value(text);
  return with_value(config_json, key, quoted);
}

std::string text_at(const std::string& config_json, std::string_view key) {
  const auto document = json::Document::parse(config_json);
  return document ? std::string(document->root().at(key).text_or("")) : std::string();
}

}  // namespace hostler::check

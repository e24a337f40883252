#include "json_object.h"

#include <rapidjson/error/en.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <hostler/driver.hpp>
#include <utility>

namespace hostler::driver {
namespace {

constexpr std::size_t kConfigBytesMax = 1 << 20;

const char* kind(const rapidjson::Value& value) {
  if (value.IsNull()) return "null";
  if (value.IsBool()) return "true or false";
  if (value.IsString()) return "a string";
  if (value.IsArray()) return "a list";
  if (value.IsObject()) return "an object";
  return value.IsInt64() ? "a whole number" : "a number that is not whole";
}

std::string found(const rapidjson::Value& value, const char* needed) {
  return std::string("is ") + kind(value) + "; needed: " + needed;
}

}  // namespace

JsonObject JsonObject::parse(const std::string& text, rapidjson::Document& document) {
  if (text.size() > kConfigBytesMax)
    throw Error(HOSTLER_E_INVALID, "driver config is longer than 1 MiB");
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError())
    throw Error(HOSTLER_E_INVALID, "driver config is not JSON: " +
                                       std::string(GetParseError_En(document.GetParseError())) +
                                       " At byte " + std::to_string(document.GetErrorOffset()));
  return {document, ""};
}

JsonObject::JsonObject(const rapidjson::Value& value, std::string path)
    : value_(&value), path_(std::move(path)) {
  if (!value.IsObject())
    throw Error(HOSTLER_E_INVALID, "driver config" + (path_.empty() ? "" : ": " + path_) + " " +
                                       found(value, "an object"));
  std::set<std::string> seen;
  for (const auto& member : value.GetObject())
    if (!seen.emplace(member.name.GetString(), member.name.GetStringLength()).second)
      refuse(member.name.GetString(), "occurs twice");
}

bool JsonObject::has(const char* key) { return find(key) != nullptr; }

std::string JsonObject::text(const char* key, const std::string& fallback) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->IsString()) refuse(key, found(*value, "a string"));
  std::string text(value->GetString(), value->GetStringLength());
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20) refuse(key, "has a control character");
  return text;
}

std::string JsonObject::path(const char* key, const std::string& fallback) {
  std::string text = this->text(key, fallback);
  if (text.empty() || text[0] != '/') refuse(key, "must be an absolute path that begins with '/'");
  return text;
}

std::int64_t JsonObject::number(const char* key, std::int64_t fallback, std::int64_t min,
                                std::int64_t max) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->IsInt64()) refuse(key, found(*value, "a whole number"));
  const std::int64_t number = value->GetInt64();
  if (number < min || number > max)
    refuse(key, "is " + std::to_string(number) + "; needed: " + std::to_string(min) + " to " +
                    std::to_string(max));
  return number;
}

bool JsonObject::truth(const char* key, bool fallback) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->IsBool()) refuse(key, found(*value, "true or false"));
  return value->GetBool();
}

double JsonObject::chance(const char* key) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return 0;
  if (!value->IsNumber()) refuse(key, found(*value, "a number from 0 to 1"));
  const double chance = value->GetDouble();
  if (!(chance >= 0 && chance <= 1)) refuse(key, "is not from 0 to 1");
  return chance;
}

std::int64_t JsonObject::bytes(const char* key) {
  if (!has(key)) return 0;
  const std::string text = this->text(key, "");
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string unit(end, text.data() + text.size());
  constexpr std::array<std::pair<const char*, std::int64_t>, 7> kUnits{{{"B", 1},
                                                                        {"MB", 1'000'000},
                                                                        {"GB", 1'000'000'000},
                                                                        {"TB", 1'000'000'000'000},
                                                                        {"MiB", 1LL << 20},
                                                                        {"GiB", 1LL << 30},
                                                                        {"TiB", 1LL << 40}}};
  const auto* const found = std::find_if(kUnits.begin(), kUnits.end(),
                                         [&](const auto& one) { return unit == one.first; });
  constexpr std::int64_t kMax = 1LL << 50;
  if (error != std::errc{} || found == kUnits.end() || count < 0 || count > kMax / found->second)
    refuse(key, "is \"" + text + "\"; needed: a size up to 1 PiB such as \"512MiB\", \"2GiB\"");
  return count * found->second;
}

std::int64_t JsonObject::money_micros(const char* key) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return -1;
  if (!value->IsNumber()) refuse(key, found(*value, "a number"));
  const double amount = value->GetDouble();
  if (!(amount >= 0 && amount <= 1'000'000)) refuse(key, "is not from 0 to 1,000,000");
  return std::llround(amount * 1e6);
}

std::int64_t JsonObject::duration_ms(const char* key, std::int64_t fallback) {
  if (!has(key)) return fallback;
  const std::string text = this->text(key, "");
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string unit(end, text.data() + text.size());
  const std::int64_t unit_ms = unit == "ms"  ? 1
                               : unit == "s" ? 1000
                               : unit == "m" ? 60 * 1000
                               : unit == "h" ? 3600 * 1000
                                             : 0;
  if (error != std::errc{} || unit_ms == 0 || count < 0 || count > 1'000'000)
    refuse(key,
           "is \"" + text + "\"; needed: a duration such as \"250ms\", \"3s\", \"5m\", \"2h\"");
  return count * unit_ms;
}

std::int64_t JsonObject::time_ns(const char* key, std::int64_t fallback) {
  if (!has(key)) return fallback;
  const std::string text = this->text(key, "");
  std::tm utc{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  if (end == nullptr || *end != '\0')
    refuse(key, "is \"" + text + "\"; needed: a time such as \"2026-03-01T12:00:00Z\"");
  return static_cast<std::int64_t>(::timegm(&utc)) * 1'000'000'000;
}

std::size_t JsonObject::choice(const char* key, const std::vector<std::string>& names,
                               std::size_t fallback) {
  if (!has(key)) return fallback;
  const std::string text = this->text(key, "");
  std::string allowed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text == names[i]) return i;
    allowed += (i == 0 ? "" : ", ") + names[i];
  }
  refuse(key, "is \"" + text + "\"; needed: one of " + allowed);
}

std::vector<std::string> JsonObject::texts(const char* key) {
  const rapidjson::Value* value = find(key);
  std::vector<std::string> list;
  if (value == nullptr) return list;
  if (!value->IsArray()) refuse(key, found(*value, "a list of strings"));
  for (const auto& item : value->GetArray()) {
    if (!item.IsString())
      refuse(std::string(key) + "[" + std::to_string(list.size()) + "]", found(item, "a string"));
    list.emplace_back(item.GetString(), item.GetStringLength());
  }
  return list;
}

std::optional<JsonObject> JsonObject::object(const char* key) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  return JsonObject(*value, path_of(key));
}

std::vector<JsonObject> JsonObject::objects(const char* key) {
  const rapidjson::Value* value = find(key);
  std::vector<JsonObject> list;
  if (value == nullptr) return list;
  if (!value->IsArray()) refuse(key, found(*value, "a list of objects"));
  for (const auto& item : value->GetArray())
    list.emplace_back(item, path_of(key) + "[" + std::to_string(list.size()) + "]");
  return list;
}

std::vector<std::string> JsonObject::keys() {
  std::vector<std::string> names;
  for (const auto& member : value_->GetObject())
    names.emplace_back(member.name.GetString(), member.name.GetStringLength());
  return names;
}

bool JsonObject::is_number(const char* key) {
  const rapidjson::Value* value = find(key);
  return value != nullptr && value->IsNumber();
}

void JsonObject::refuse_unknown_keys() const {
  for (const auto& member : value_->GetObject())
    if (known_.count(member.name.GetString()) == 0)
      refuse(member.name.GetString(), "is unknown; check the spelling");
}

void JsonObject::refuse(const std::string& key, const std::string& problem) const {
  throw Error(HOSTLER_E_INVALID, "driver config: " + path_of(key) + " " + problem);
}

const rapidjson::Value* JsonObject::find(const char* key) {
  known_.insert(key);
  const auto found = value_->FindMember(key);
  return found == value_->MemberEnd() ? nullptr : &found->value;
}

std::string JsonObject::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

}  // namespace hostler::driver

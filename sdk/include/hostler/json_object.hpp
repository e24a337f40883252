// hostler/json_object.hpp - config and credentials of a set, read from JSON. Compiled into each
// driver. Needs C++17 and RapidJSON (Debian: rapidjson-dev).
#ifndef HOSTLER_JSON_OBJECT_HPP
#define HOSTLER_JSON_OBJECT_HPP

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <functional>
#include <hostler/driver.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hostler::driver {

inline constexpr std::size_t kJsonBytesMax = std::size_t{1} << 20;

/// One JSON object of the config, read key by key. Every function throws Error(HOSTLER_E_INVALID)
/// if a value is wrong: "config.regions[2].zone is a number; needed: a string". The message
/// has the path of the member, what it is and what it may be. Refers to the document, which must
/// outlive it. Not for credentials: messages quote values.
class JsonObject {
 public:
  /// Parses `text`, which must be an object, into `document`. \param what it is, for the errors.
  static JsonObject parse(const std::string& text, rapidjson::Document& document,
                          const std::string& what = "config");

  JsonObject(const rapidjson::Value& value, std::string path);

  bool has(const char* key);
  std::string text(const char* key, const std::string& fallback);
  std::string path(const char* key, const std::string& fallback);  ///< Absolute.
  std::int64_t integer(const char* key, std::int64_t fallback, std::int64_t min, std::int64_t max);
  bool boolean(const char* key, bool fallback);
  double probability(const char* key);  ///< 0 to 1; 0 if it is not there.
  /// "512MiB", "2GiB" or "100GB", as bytes; 0 if it is not there.
  std::int64_t bytes(const char* key);
  /// An amount of money, in millionths; -1 if it is not there.
  std::int64_t money_micros(const char* key);
  /// "250ms", "3s", "5m" or "2h", as milliseconds.
  std::int64_t duration_ms(const char* key, std::int64_t fallback);
  /// "2026-03-01T12:00:00Z", as nanoseconds since 1970.
  std::int64_t time_ns(const char* key, std::int64_t fallback);
  /// The index in `names` of the value.
  std::size_t choice(const char* key, const std::vector<std::string>& names, std::size_t fallback);
  std::vector<std::string> texts(const char* key);
  std::optional<JsonObject> object(const char* key);
  std::vector<JsonObject> objects(const char* key);
  /// All keys. For objects with arbitrary keys.
  std::vector<std::string> keys();
  bool is_number(const char* key);

  /// Call it last: throws if there are keys that were not read.
  void refuse_unknown_keys() const;

  /// Throws an error about `key` of this object.
  [[noreturn]] void refuse(const std::string& key, const std::string& problem) const;

 private:
  const rapidjson::Value* find(const char* key);
  std::string path_of(const std::string& key) const;

  const rapidjson::Value* value_;
  std::string path_;
  std::set<std::string> known_;  ///< Keys that were read.
};

/// Calls `member` with the name and value of each member of the credentials of a set, which are
/// empty or a JSON object. Refuses all else.
void read_credentials_object(
    const std::string& text,
    const std::function<void(const std::string& name, const rapidjson::Value& value)>& member);

/// Throws Error(HOSTLER_E_INVALID, "credentials: ..."). \param problem says nothing of the values.
[[noreturn]] void refuse_credentials(const std::string& problem);

// ---- implementation

namespace detail {

inline const char* kind(const rapidjson::Value& value) {
  if (value.IsNull()) return "null";
  if (value.IsBool()) return "true or false";
  if (value.IsString()) return "a string";
  if (value.IsArray()) return "a list";
  if (value.IsObject()) return "an object";
  return value.IsInt64() ? "a whole number" : "a number that is not whole";
}

inline std::string found(const rapidjson::Value& value, const char* needed) {
  return std::string("is ") + kind(value) + "; needed: " + needed;
}

inline bool has_control_character(const std::string& text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20) return true;
  return false;
}

}  // namespace detail

inline JsonObject JsonObject::parse(const std::string& text, rapidjson::Document& document,
                                    const std::string& what) {
  if (text.size() > kJsonBytesMax) throw Error(HOSTLER_E_INVALID, what + " is longer than 1 MiB");
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError())
    throw Error(HOSTLER_E_INVALID, what + " is not JSON at byte " +
                                       std::to_string(document.GetErrorOffset()) + ": " +
                                       GetParseError_En(document.GetParseError()));
  return {document, what};
}

inline JsonObject::JsonObject(const rapidjson::Value& value, std::string path)
    : value_(&value), path_(std::move(path)) {
  if (!value.IsObject())
    throw Error(HOSTLER_E_INVALID, path_ + " " + detail::found(value, "an object"));
  std::set<std::string> seen;
  for (const auto& member : value.GetObject())
    if (!seen.emplace(member.name.GetString(), member.name.GetStringLength()).second)
      refuse(member.name.GetString(), "occurs twice");
}

inline bool JsonObject::has(const char* key) { return find(key) != nullptr; }

inline std::string JsonObject::text(const char* key, const std::string& fallback) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->IsString()) refuse(key, detail::found(*value, "a string"));
  std::string text(value->GetString(), value->GetStringLength());
  if (detail::has_control_character(text)) refuse(key, "has a control character");
  return text;
}

inline std::string JsonObject::path(const char* key, const std::string& fallback) {
  std::string text = this->text(key, fallback);
  if (text.empty() || text[0] != '/') refuse(key, "must be an absolute path that begins with '/'");
  return text;
}

inline std::int64_t JsonObject::integer(const char* key, std::int64_t fallback, std::int64_t min,
                                        std::int64_t max) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->IsInt64()) refuse(key, detail::found(*value, "a whole number"));
  const std::int64_t number = value->GetInt64();
  if (number < min || number > max)
    refuse(key, "is " + std::to_string(number) + "; needed: " + std::to_string(min) + " to " +
                    std::to_string(max));
  return number;
}

inline bool JsonObject::boolean(const char* key, bool fallback) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->IsBool()) refuse(key, detail::found(*value, "true or false"));
  return value->GetBool();
}

inline double JsonObject::probability(const char* key) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return 0;
  if (!value->IsNumber()) refuse(key, detail::found(*value, "a number from 0 to 1"));
  const double chance = value->GetDouble();
  if (!(chance >= 0 && chance <= 1)) refuse(key, "is not from 0 to 1");
  return chance;
}

inline std::int64_t JsonObject::bytes(const char* key) {
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

inline std::int64_t JsonObject::money_micros(const char* key) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return -1;
  if (!value->IsNumber()) refuse(key, detail::found(*value, "a number"));
  const double amount = value->GetDouble();
  if (!(amount >= 0 && amount <= 1'000'000)) refuse(key, "is not from 0 to 1,000,000");
  return std::llround(amount * 1e6);
}

inline std::int64_t JsonObject::duration_ms(const char* key, std::int64_t fallback) {
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

inline std::int64_t JsonObject::time_ns(const char* key, std::int64_t fallback) {
  if (!has(key)) return fallback;
  const std::string text = this->text(key, "");
  std::tm utc{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  if (end == nullptr || *end != '\0')
    refuse(key, "is \"" + text + "\"; needed: a time such as \"2026-03-01T12:00:00Z\"");
  const std::int64_t seconds = ::timegm(&utc);
  constexpr std::int64_t kSecondsMax = INT64_MAX / 1'000'000'000;
  if (seconds < 0 || seconds > kSecondsMax) refuse(key, "must be a time from 1970 to 2262");
  return seconds * 1'000'000'000;
}

inline std::size_t JsonObject::choice(const char* key, const std::vector<std::string>& names,
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

inline std::vector<std::string> JsonObject::texts(const char* key) {
  const rapidjson::Value* value = find(key);
  std::vector<std::string> list;
  if (value == nullptr) return list;
  if (!value->IsArray()) refuse(key, detail::found(*value, "a list of strings"));
  for (const auto& item : value->GetArray()) {
    const std::string which = std::string(key) + "[" + std::to_string(list.size()) + "]";
    if (!item.IsString()) refuse(which, detail::found(item, "a string"));
    list.emplace_back(item.GetString(), item.GetStringLength());
    if (detail::has_control_character(list.back())) refuse(which, "has a control character");
  }
  return list;
}

inline std::optional<JsonObject> JsonObject::object(const char* key) {
  const rapidjson::Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  return JsonObject(*value, path_of(key));
}

inline std::vector<JsonObject> JsonObject::objects(const char* key) {
  const rapidjson::Value* value = find(key);
  std::vector<JsonObject> list;
  if (value == nullptr) return list;
  if (!value->IsArray()) refuse(key, detail::found(*value, "a list of objects"));
  for (const auto& item : value->GetArray())
    list.emplace_back(item, path_of(key) + "[" + std::to_string(list.size()) + "]");
  return list;
}

inline std::vector<std::string> JsonObject::keys() {
  std::vector<std::string> names;
  for (const auto& member : value_->GetObject())
    names.emplace_back(member.name.GetString(), member.name.GetStringLength());
  return names;
}

inline bool JsonObject::is_number(const char* key) {
  const rapidjson::Value* value = find(key);
  return value != nullptr && value->IsNumber();
}

inline void JsonObject::refuse_unknown_keys() const {
  std::string known;
  for (const auto& key : known_) known += (known.empty() ? "" : ", ") + key;
  for (const auto& member : value_->GetObject()) {
    const std::string name(member.name.GetString(), member.name.GetStringLength());
    if (known_.count(name) == 0) refuse(name, "is unknown; needed: one of " + known);
  }
}

inline void JsonObject::refuse(const std::string& key, const std::string& problem) const {
  throw Error(HOSTLER_E_INVALID, path_of(key) + " " + problem);
}

inline const rapidjson::Value* JsonObject::find(const char* key) {
  known_.insert(key);
  const auto found = value_->FindMember(key);
  return found == value_->MemberEnd() ? nullptr : &found->value;
}

inline std::string JsonObject::path_of(const std::string& key) const { return path_ + "." + key; }

inline void refuse_credentials(const std::string& problem) {
  throw Error(HOSTLER_E_INVALID, "credentials: " + problem);
}

inline void read_credentials_object(
    const std::string& text,
    const std::function<void(const std::string& name, const rapidjson::Value& value)>& member) {
  if (text.empty()) return;
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject()) refuse_credentials("must be a JSON object");
  const rapidjson::Value& all = document;
  for (const auto& one : all.GetObject())
    member({one.name.GetString(), one.name.GetStringLength()}, one.value);
}

}  // namespace hostler::driver

#endif

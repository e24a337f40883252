#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hostler::driver {

/// One JSON object of the config, read key by key. Every function throws
/// driver::Error(HOSTLER_E_INVALID) with the path of the field, the value found and the values
/// allowed if the value is wrong. Refers to the document, which must outlive it.
class JsonObject {
 public:
  /// Parses `text`, which must be an object, into `document`.
  static JsonObject parse(const std::string& text, rapidjson::Document& document);

  JsonObject(const rapidjson::Value& value, std::string path);

  bool has(const char* key);
  std::string text(const char* key, const std::string& fallback);
  std::string path(const char* key, const std::string& fallback);  ///< Absolute.
  std::int64_t number(const char* key, std::int64_t fallback, std::int64_t min, std::int64_t max);
  bool truth(const char* key, bool fallback);
  double chance(const char* key);  ///< 0 to 1; 0 if it is not there.
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

}  // namespace hostler::driver

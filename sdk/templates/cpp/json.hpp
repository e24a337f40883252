// The answers of the cloud as values, read with RapidJSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct Json {
  enum class Kind { kNone, kWord, kNumber, kText, kArray, kObject };

  Kind kind = Kind::kNone;
  std::string text;        // of a text; "true", "false", and empty of null
  std::int64_t whole = 0;  // of a whole number
  std::vector<std::pair<std::string, Json>> members;  // names are empty in an array

  bool is(std::string_view words) const { return text == words; }
  // The member of an object; of kind kNone if there is none.
  const Json& operator[](std::string_view name) const;
  // A whole number of at least 0, or 0.
  std::int64_t number() const { return whole < 0 ? 0 : whole; }

  // Nothing if that is no JSON, or nests deeper than 32.
  static std::optional<Json> read(std::string_view bytes);
  // As a JSON text.
  static std::string quote(std::string_view bytes);
};

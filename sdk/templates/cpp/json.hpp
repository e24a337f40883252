// JSON as a small driver needs it: a reader that checks the whole text, and a writer of texts. Take
// a library instead where you have one: RapidJSON and nlohmann-json are in Debian.
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
  std::string text;  // of a text; and a word or number as it stands
  std::vector<std::pair<std::string, Json>> members;  // names are empty in an array

  bool is(std::string_view word) const { return text == word; }
  // The member of an object; of kind kNone if there is none.
  const Json& operator[](std::string_view name) const;
  // A whole number of at least 0, or 0.
  std::int64_t number() const;

  // Nothing if that is no JSON, or nests deeper than 32.
  static std::optional<Json> read(std::string_view bytes);
  // As a JSON text.
  static std::string quote(std::string_view bytes);
};

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/json/document.h"

namespace hostler::json {

/// Appends compact JSON to a string and sets the commas. The result is always well-formed UTF-8:
/// malformed bytes become U+FFFD. The caller must call an end function for each begin function.
///
///   json::Writer w(out);
///   w.begin_object().member("id", id.text()).key("needs").begin_object()...
class Writer {
 public:
  /// What disturbs a terminal, such as U+202E, is escaped, or written as it is: texts that are
  /// hashed must not depend on the list of these characters.
  enum class Disruptive : std::uint8_t { kEscaped, kAsItIs };
  explicit Writer(std::string& out, Disruptive disruptive = Disruptive::kEscaped)
      : out_(out), disruptive_(disruptive) {}

  Writer& begin_object() { return open('{'); }
  Writer& end_object() { return close('}'); }
  Writer& begin_array() { return open('['); }
  Writer& end_array() { return close(']'); }
  Writer& key(std::string_view name);

  Writer& value(std::string_view text);
  Writer& value(const char* text) { return value(std::string_view(text)); }
  Writer& value(const std::string& text) { return value(std::string_view(text)); }
  Writer& value(std::same_as<bool> auto flag) { return raw(flag ? "true" : "false"); }
  Writer& value(std::signed_integral auto number) { return integer(number); }
  Writer& value(std::unsigned_integral auto number) requires(
      !std::same_as<decltype(number), bool>) {
    return natural(number);
  }
  Writer& value(double number);  ///< The shortest exact text; null for NaN and infinity.
  /// For money, without rounding by a double: 1250000 is written as 1.25.
  Writer& millionths(std::int64_t micros);
  /// Likewise: 250 is written as 0.25.
  Writer& thousandths(std::int64_t number) { return millionths(number * 1000); }
  Writer& null() { return raw("null"); }
  /// Appends a value that is JSON already.
  Writer& raw(std::string_view json);
  /// Appends a parsed value: compact, without comments, numbers as they were written.
  Writer& value(Value parsed);

  template <class T>
  Writer& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

 private:
  Writer& open(char bracket);
  Writer& close(char bracket);
  Writer& integer(std::int64_t number);
  Writer& natural(std::uint64_t number);
  void separate();
  void quote(std::string_view text);

  std::string& out_;
  const Disruptive disruptive_ = Disruptive::kEscaped;
  bool comma_ = false;  ///< The next key or value needs a comma before it.
};

/// The value as compact JSON.
std::string to_text(Value parsed);

}  // namespace hostler::json

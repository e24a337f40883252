#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/json/document.h"

namespace hostler::json {

/// Appends JSON to a string, compact, commas set by itself. Whatever is put in, the result is
/// well-formed UTF-8: malformed bytes become U+FFFD. The caller pairs begin and end.
///
///   json::Writer w(out);
///   w.begin_object().member("id", id.text()).key("needs").begin_object()...
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

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
  Writer& value(double number);  ///< The shortest text that reads back equal; null for NaN, inf.
  /// For money, which must not pass through a double: 1250000 is written as 1.25.
  Writer& millionths(std::int64_t micros);
  Writer& null() { return raw("null"); }
  /// A value that is JSON already.
  Writer& raw(std::string_view json);
  /// The same value as was parsed, compact, comments gone, numbers as written.
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
  bool comma_ = false;  ///< Whether the next key or value needs one before it.
};

/// The value as compact JSON.
std::string to_text(Value parsed);

}  // namespace hostler::json

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hostler::local {

/// The format of all state files of an instance: one `name value` per line, and `end` as the last
/// line, so that a truncated file is detected. Names are words; values are any text (\n and \ are
/// escaped).
class Fields {
 public:
  /// Throws std::runtime_error if `text` does not have this format or is truncated.
  static Fields parse(std::string_view text);
  std::string text() const;

  void set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  void set(const std::string& name, std::int64_t value) { values_[name] = std::to_string(value); }
  bool has(const std::string& name) const { return values_.count(name) != 0; }
  /// The value, or `fallback` if there is none.
  std::string get(const std::string& name, const std::string& fallback = "") const;
  /// The same as a number. Throws std::runtime_error if the value is not a number.
  std::int64_t number(const std::string& name, std::int64_t fallback = 0) const;

  const std::map<std::string, std::string>& all() const { return values_; }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace hostler::local

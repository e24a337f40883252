#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hostler::local {

/// The form of every state file of an instance: one `name value` a line, and `end` as the last, so
/// that a file cut short is noticed. Names are words; values are any text (\n and \ are escaped).
class Fields {
 public:
  /// Throws std::runtime_error where `text` is not of that form or lacks its end.
  static Fields parse(std::string_view text);
  std::string text() const;

  void set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  void set(const std::string& name, std::int64_t value) { values_[name] = std::to_string(value); }
  bool has(const std::string& name) const { return values_.count(name) != 0; }
  /// The value, or `fallback` where there is none.
  std::string get(const std::string& name, const std::string& fallback = "") const;
  /// Likewise; throws std::runtime_error where the value is no number.
  std::int64_t number(const std::string& name, std::int64_t fallback = 0) const;

  const std::map<std::string, std::string>& all() const { return values_; }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace hostler::local

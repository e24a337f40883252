#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hostler::cli {

/// `text` as part of a URL.
std::string escape(std::string_view text);

/// A path with its query.
class Query {
 public:
  explicit Query(std::string path) : text_(std::move(path)) {}
  /// Nothing for an empty value.
  Query& add(const char* key, std::string_view value);
  Query& add(const char* key, std::uint64_t value) { return add(key, std::to_string(value)); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace hostler::cli

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hostler::cli {

/// Percent-encodes `text` for a URL, as one segment of its path or one value of its query.
std::string escape(std::string_view text);

/// Where the API has a job or a lease: "/v1/jobs/j-42", "/v1/leases/l-3".
std::string work_path(const std::string& id);

/// Builds a request path with a query string.
class Query {
 public:
  explicit Query(std::string path) : text_(std::move(path)) {}
  /// Adds nothing if `value` is empty.
  Query& add(const char* key, std::string_view value);
  Query& add(const char* key, std::uint64_t value) { return add(key, std::to_string(value)); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace hostler::cli

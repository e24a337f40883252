#pragma once

#include <rapidjson/document.h>

#include <string>
#include <string_view>

#include "transport.h"

namespace hostler::lxd {

using Value = rapidjson::Value;

/// The status while LXD starts or ends: it has done nothing.
inline constexpr long kNotAvailable = 503;
inline constexpr long kTooMany = 429;

/// What LXD has answered: {"type", "metadata", "operation", "error", "error_code"}.
class Answer {
 public:
  /// Throws Refused if that is an error of LXD, NoAnswer if it is no answer of LXD at all, or if
  /// LXD is starting or ending (status 503) and has done nothing.
  static Answer read(const HttpAnswer& http);

  /// Lives as long as this.
  [[nodiscard]] const Value& metadata() const { return document_["metadata"]; }
  [[nodiscard]] bool is_operation() const { return !operation_.empty(); }
  /// Its path, "/1.0/operations/ID"; empty if the request is done.
  [[nodiscard]] const std::string& operation() const { return operation_; }

 private:
  rapidjson::Document document_;
  std::string operation_;
};

// Members of objects. A missing one, or one of another type, is empty or 0.
std::string text_of(const Value& object, std::string_view key);
std::int64_t number_of(const Value& object, std::string_view key);
bool truth_of(const Value& object, std::string_view key);
/// Null if it is not an object.
const Value* object_of(const Value& object, std::string_view key);
/// The strings of a list.
bool list_has(const Value& object, std::string_view key, std::string_view item);

/// An answer that cannot be one of LXD.
[[noreturn]] void throw_not_lxd(const std::string& what);

}  // namespace hostler::lxd

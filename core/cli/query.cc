#include "core/cli/query.h"

#include "core/base/text.h"

namespace hostler::cli {

Query& Query::add(const char* key, std::string_view value) {
  if (value.empty()) return *this;
  text_ += text_.find('?') == std::string::npos ? '?' : '&';
  text_ += std::string(key) + "=" + escape(value);
  return *this;
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<std::uint8_t>(c);
      out += "%" + to_hex({&byte, 1});
    }
  }
  return out;
}

std::string work_path(const std::string& id) {
  return (id.starts_with("l-") ? "/v1/leases/" : "/v1/jobs/") + escape(id);
}

}  // namespace hostler::cli

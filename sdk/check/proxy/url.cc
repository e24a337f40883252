#include "sdk/check/proxy/url.h"

#include <algorithm>

namespace hostler::check {

std::optional<Url> read_url(const std::string& text) {
  const auto scheme = text.find("://");
  const bool has_scheme = scheme != std::string::npos;
  Url out{has_scheme ? text.substr(0, scheme) : "", {}, {}, {}};
  const std::string rest = has_scheme ? text.substr(scheme + 3) : text;
  const auto slash = std::min(rest.find('/'), rest.size());
  out.path = rest.substr(slash);
  const std::string where = rest.substr(0, slash);
  auto colon = where.rfind(':');
  if (const auto end = where.rfind(']'); end != std::string::npos && colon < end)
    colon = std::string::npos;  // of the address
  if (!has_scheme && colon == std::string::npos) return std::nullopt;
  out.host = where.substr(0, colon);
  out.port =
      colon == std::string::npos ? (out.scheme == "https" ? "443" : "80") : where.substr(colon + 1);
  if (out.host.size() > 2 && out.host.front() == '[')
    out.host = out.host.substr(1, out.host.size() - 2);
  return out;
}

std::string to_text(const Url& url) {
  const bool is_ipv6 = url.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + url.host + "]" : url.host;
  return (url.scheme.empty() ? "" : url.scheme + "://") + host + ":" + url.port + url.path;
}

}  // namespace hostler::check

#include "http/text.h"

#include <cstdio>
#include <ctime>

namespace hostler::http {

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    char hex[4];
    std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += plain ? std::string(1, c) : std::string(hex);
  }
  return out;
}

std::int64_t read_time_ns(const std::string& text) {
  std::tm local{};
  const char* at = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &local);
  if (at == nullptr) return 0;
  std::int64_t ns = 0;
  if (*at == '.') {
    std::int64_t unit = 100'000'000;
    for (++at; *at >= '0' && *at <= '9'; ++at, unit /= 10) ns += (*at - '0') * unit;
  }
  std::tm zone{};
  at = ::strptime(at, "%z", &zone);
  if (at == nullptr || *at != '\0') return 0;
  const std::int64_t seconds = ::timegm(&local) - zone.tm_gmtoff;
  return seconds <= 0 || seconds > 9'000'000'000 ? 0 : seconds * 1'000'000'000 + ns;
}

}  // namespace hostler::http

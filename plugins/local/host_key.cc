#include "host_key.h"

namespace hostler::local {
namespace {

std::string base64(const std::uint8_t* bytes, std::size_t size) {
  static const char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < size; i += 3) {
    const std::size_t n = size - i < 3 ? size - i : 3;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

bool is_key(const std::string& line, std::string_view algorithm, const std::uint8_t* blob,
            std::size_t size) {
  return line == std::string(algorithm) + " " + base64(blob, size);
}

}  // namespace hostler::local

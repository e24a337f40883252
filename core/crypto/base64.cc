#include "core/crypto/base64.h"

#include <openssl/evp.h>

#include <cstdint>

namespace hostler::crypto {

std::string to_base64(std::string_view data) {
  // EVP_EncodeBlock ends its output with a NUL.
  std::string out((data.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<std::uint8_t*>(out.data()),
                                     reinterpret_cast<const std::uint8_t*>(data.data()),
                                     static_cast<int>(data.size()));
  out.resize(static_cast<std::size_t>(length));
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out(text.size() / 4 * 3 + 1, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<std::uint8_t*>(out.data()),
                                     reinterpret_cast<const std::uint8_t*>(text.data()),
                                     static_cast<int>(text.size()));
  if (length < 0) return std::nullopt;
  // EVP_DecodeBlock counts padding as data, and is lenient; encoding again settles both.
  auto size = static_cast<std::size_t>(length);
  for (std::size_t i = 0; i < 2 && i < text.size() && text[text.size() - 1 - i] == '='; ++i) --size;
  out.resize(size);
  if (to_base64(out) != text) return std::nullopt;
  return out;
}

}  // namespace hostler::crypto

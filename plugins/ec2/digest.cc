#include "digest.h"

#include <openssl/evp.h>

#include <array>
#include <cstdio>
#include <vector>

#include "answer.h"

namespace hostler::ec2 {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string digest_of(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    throw driver::Error(HOSTLER_E_INTERNAL, "OpenSSL cannot compute SHA-256");
  std::string hex;
  for (std::size_t i = 0; i < 16; ++i) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", digest[i]);
    hex += two.data();
  }
  return hex;
}

std::string in_base64(std::string_view bytes) {
  std::vector<unsigned char> out(4 * ((bytes.size() + 2) / 3) + 1);
  const int n = EVP_EncodeBlock(out.data(), bytes_of(bytes), static_cast<int>(bytes.size()));
  return {reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(n)};
}

std::string from_base64(std::string_view text) {
  std::string packed;
  for (const char c : text)
    if (c != '\n' && c != '\r' && c != ' ' && c != '\t') packed += c;
  const std::size_t begin_of_padding = packed.find('=');
  const std::size_t padding =
      begin_of_padding == std::string::npos ? 0 : packed.size() - begin_of_padding;
  std::vector<unsigned char> out(packed.size() / 4 * 3 + 1);
  const int n =
      packed.size() % 4 != 0 || padding > 2
          ? -1
          : EVP_DecodeBlock(out.data(), bytes_of(packed), static_cast<int>(packed.size()));
  if (n < 0) throw_not_amazon("it has a text that is not base64");
  return {reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(n) - padding};
}

}  // namespace hostler::ec2

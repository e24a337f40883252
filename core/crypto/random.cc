#include "core/crypto/random.h"

#include <openssl/rand.h>

#include <cstdlib>
#include <cstring>

#include "core/base/text.h"

namespace hostler::crypto {

std::vector<std::uint8_t> random_bytes(std::size_t n) {
  std::vector<std::uint8_t> out(n);
  // If the generator fails, end the process: a secret that can be guessed is worse than none.
  if (RAND_bytes(out.data(), static_cast<int>(n)) != 1) std::abort();
  return out;
}

std::string random_hex(std::size_t n) { return to_hex(random_bytes(n)); }

std::string random_uuid() {
  std::string hex = random_hex(16);
  hex[12] = '4';
  hex[16] = "89ab"[hex[16] % 4];
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20);
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  const std::vector<std::uint8_t> bytes = random_bytes(sizeof(seed));
  std::memcpy(&seed, bytes.data(), sizeof(seed));
  return seed;
}

}  // namespace hostler::crypto

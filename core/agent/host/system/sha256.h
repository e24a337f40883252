#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hostler::agent {

/// SHA-256 (FIPS 180-4). The agent has its own because it links no crypto library.
class Sha256 {
 public:
  Sha256& update(std::string_view data);
  /// The hash as 64 lower-case hex digits. Call it once, as the last call.
  std::string finish_hex();

 private:
  void block(const unsigned char* data);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_{};
  std::uint64_t size_ = 0;
};

}  // namespace hostler::agent

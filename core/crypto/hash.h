#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hostler::crypto {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view data);
/// Lower-case hexadecimal, 64 digits: how blobs and binaries are named.
std::string sha256_hex(std::string_view data);
Digest hmac_sha256(std::string_view key, std::string_view data);

/// True if both are equal; takes the same time wherever they differ. For secrets and proofs.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// SHA-256 of data that comes in pieces. Movable; one thread at a time.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  Sha256& update(std::string_view data);
  /// The digest of all that was given; begins anew afterwards.
  Digest finish();
  std::string finish_hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostler::crypto

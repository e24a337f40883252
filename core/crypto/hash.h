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
/// The hash as 64 lower-case hex digits. Blobs and binaries are named like this.
std::string sha256_hex(std::string_view data);
Digest hmac_sha256(std::string_view key, std::string_view data);

/// True if both are equal. The time does not depend on where they differ; for comparing secrets.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// SHA-256 of data in several pieces. Movable; for one thread at a time.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  Sha256& update(std::string_view data);
  /// The digest of all data since construction or the last call of finish().
  Digest finish();
  std::string finish_hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostler::crypto

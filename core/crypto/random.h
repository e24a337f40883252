#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hostler::crypto {

/// `n` random bytes that are suitable for keys and secrets. Any thread.
std::vector<std::uint8_t> random_bytes(std::size_t n);
/// `n` random bytes as 2n lower-case hex digits.
std::string random_hex(std::size_t n);
/// A seed for base/random.h.
std::uint64_t random_seed();

}  // namespace hostler::crypto

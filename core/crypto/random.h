#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hostler::crypto {

/// `n` bytes from the system's generator: keys, secrets, nonces, ids, seeds. Any thread.
std::vector<std::uint8_t> random_bytes(std::size_t n);
/// `n` such bytes as 2n lower-case hexadecimal digits.
std::string random_hex(std::size_t n);
/// A seed for base/random.h.
std::uint64_t random_seed();

}  // namespace hostler::crypto

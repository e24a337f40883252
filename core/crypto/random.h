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
/// A UUID of version 4 (RFC 4122), as drivers may expect one for a key.
std::string random_uuid();
/// A seed for base/random.h.
std::uint64_t random_seed();

}  // namespace hostler::crypto

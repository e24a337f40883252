#pragma once

#include <cstdint>
#include <limits>

namespace hostler {

/// The sum, or the largest or smallest number in place of an overflow.
[[nodiscard]] inline std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

}  // namespace hostler

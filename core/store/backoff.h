#pragma once

#include <algorithm>
#include <chrono>

namespace hostler::store {

/// How long a writing thread waits before it tries again: twice as long after each failure.
class Backoff {
 public:
  std::chrono::milliseconds next() {
    const auto wait = next_;
    next_ = std::min(next_ * 2, kLongest);
    return wait;
  }

 private:
  static constexpr std::chrono::milliseconds kLongest{2000};
  std::chrono::milliseconds next_{50};
};

}  // namespace hostler::store

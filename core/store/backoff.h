#pragma once

#include <algorithm>
#include <chrono>

namespace hostler::store {

/// How long a thread that writes rests before it tries again what failed: twice as long each time.
class Backoff {
 public:
  std::chrono::milliseconds next() {
    const auto rest = next_;
    next_ = std::min(next_ * 2, kLongest);
    return rest;
  }

 private:
  static constexpr std::chrono::milliseconds kLongest{2000};
  std::chrono::milliseconds next_{50};
};

}  // namespace hostler::store

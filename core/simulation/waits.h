#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "core/base/time.h"

namespace hostler::simulation {

/// How long things have waited, to the precision of a float.
class Waits {
 public:
  void add(Duration wait) { seconds_.push_back(std::chrono::duration<float>(wait).count()); }
  [[nodiscard]] bool empty() const { return seconds_.empty(); }
  [[nodiscard]] Duration mean() const {
    if (seconds_.empty()) return {};
    const double sum = std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
    return duration(sum / static_cast<double>(seconds_.size()));
  }
  /// Changes the order in which they are kept.
  [[nodiscard]] Duration quantile(double part) {
    if (seconds_.empty()) return {};
    const auto last = static_cast<double>(seconds_.size() - 1);
    const auto at = seconds_.begin() + static_cast<std::ptrdiff_t>(std::ceil(last * part));
    std::ranges::nth_element(seconds_, at);
    return duration(static_cast<double>(*at));
  }

 private:
  static Duration duration(double seconds) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  }
  std::vector<float> seconds_;
};

}  // namespace hostler::simulation

#pragma once

#include "core/base/random.h"
#include "tests/sim/timeline.h"

namespace hostler::sim {

/// The world's dice: delays always, faults only until they are switched off.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] bool fault(double p) { return random_.chance(p) && faults_; }
  [[nodiscard]] bool chance(double p) { return random_.chance(p); }
  [[nodiscard]] Duration between(Duration low, Duration high) {
    return low + Duration(static_cast<Duration::rep>(
                     random_.below(static_cast<std::uint64_t>((high - low).count()) + 1)));
  }
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  [[nodiscard]] bool faults() const { return faults_; }
  void end_faults() { faults_ = false; }
  Random& random() { return random_; }

 private:
  Random random_;
  bool faults_ = true;
};

}  // namespace hostler::sim

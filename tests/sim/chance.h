#pragma once

#include "core/base/random.h"
#include "core/simulation/timeline.h"
#include "tests/sim/day.h"

namespace hostler::sim {

/// The random choices of the simulation: delays always, faults only until they are switched off.
class Chance {
 public:
  /// `faults`: factor for the probability of each fault.
  Chance(std::uint64_t seed, double faults) : random_(seed), rate_(faults) {}

  [[nodiscard]] bool fault(double p) { return random_.chance(p * rate_) && faults_; }
  [[nodiscard]] bool chance(double p) { return random_.chance(p); }
  [[nodiscard]] Duration between(Duration low, Duration high) {
    return low + Duration(static_cast<Duration::rep>(
                     random_.below(static_cast<std::uint64_t>((high - low).count()) + 1)));
  }
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  [[nodiscard]] std::uint64_t in(Range range) {
    return range.low + random_.below(range.high - range.low + 1);
  }
  [[nodiscard]] bool faults() const { return faults_; }
  void end_faults() { faults_ = false; }
  Random& random() { return random_; }

 private:
  Random random_;
  const double rate_;
  bool faults_ = true;
};

}  // namespace hostler::sim

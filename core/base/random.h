#pragma once

#include <cstdint>

namespace hostler {

/// The random generator (splitmix64) of decisions, simulation and benchmarks; passed as an
/// argument. Equal seeds give equal numbers on every platform, which the distributions of <random>
/// do not guarantee. Not for secrets; see crypto/random.h.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  /// Uniform in [0, n); 0 for n = 0. The modulo bias is below 2^-32 for every n in use.
  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : next() % n; }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  bool chance(double p) { return unit() < p; }

 private:
  std::uint64_t state_;
};

}  // namespace hostler

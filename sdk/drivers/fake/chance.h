#pragma once

#include <cstdint>
#include <string_view>

namespace hostler::fake {

/// Chance that depends on the seed and on what is decided, not on how many decisions came before:
/// calls in another order, or at the same time, have the same luck.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : seed_(seed) {}

  /// In [0, 1): for the decision `what` about `name`, the `number`th time.
  [[nodiscard]] double unit(std::string_view what, std::string_view name,
                            std::uint64_t number = 0) const {
    std::uint64_t state = mixed(seed_);
    for (const char c : what) state = mixed(state ^ static_cast<unsigned char>(c));
    state = mixed(state ^ 0x100);
    for (const char c : name) state = mixed(state ^ static_cast<unsigned char>(c));
    return static_cast<double>(mixed(state ^ mixed(number)) >> 11U) * 0x1.0p-53;
  }
  /// Whether what happens with probability `p` happens.
  [[nodiscard]] bool happens(double p, std::string_view what, std::string_view name,
                             std::uint64_t number = 0) const {
    return unit(what, name, number) < p;
  }
  /// From `least` on, less than `spread` more.
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t spread, std::string_view what,
                                     std::string_view name, std::uint64_t number = 0) const {
    return least +
           static_cast<std::int64_t>(unit(what, name, number) * static_cast<double>(spread));
  }

 private:
  /// One step of splitmix64.
  static std::uint64_t mixed(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

  std::uint64_t seed_;
};

}  // namespace hostler::fake

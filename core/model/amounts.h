#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "core/model/offering.h"
#include "core/model/resources.h"

namespace hostler::model {

/// What parts of hosts come to, as the limits of running work count them.
struct Amounts {
  Micros price_per_hour = {};
  Vcpus vcpus = {};
  std::int64_t gpus = 0;
  friend auto operator<=>(const Amounts&, const Amounts&) = default;

  static constexpr std::size_t kCount = 3;
  /// In millionths, thousandths and cards, for rules that are the same for each amount.
  using Values = std::array<std::int64_t, kCount>;
  static constexpr std::size_t kPrice = 0;  ///< Index of the price in Values.
  [[nodiscard]] constexpr Values values() const {
    return {price_per_hour.value, vcpus.thousandths(), gpus};
  }
  static constexpr Amounts of(const Values& values) {
    return {{values[kPrice]}, Vcpus::of_thousandths(values[1]), values[2]};
  }
  /// Of a part that has these resources and this price.
  static constexpr Amounts of(const Resources& held, Micros price_per_hour) {
    return {price_per_hour, held.vcpus, held.gpus};
  }
};

}  // namespace hostler::model

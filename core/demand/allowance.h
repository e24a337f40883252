#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/model/cloud.h"
#include "core/model/resources.h"

namespace hostler::demand {

/// What a principal may hold of hosts besides what it holds now. Unset: no limit.
struct Allowance {
  std::optional<model::Vcpus> vcpus;  ///< Negative after a limit was lowered.
  std::optional<model::Micros> price_per_hour;

  [[nodiscard]] bool is_limited() const { return vcpus || price_per_hour; }
  /// How many items it covers, at most `most`. `price`: of the part of a host that each holds.
  [[nodiscard]] std::uint64_t count(const model::Resources& needs, model::Micros price,
                                    std::uint64_t most) const {
    const auto bound = [&](std::int64_t left, std::int64_t each) {
      if (each > 0)
        most = std::min(most, static_cast<std::uint64_t>(std::max<std::int64_t>(0, left) / each));
    };
    if (vcpus) bound(vcpus->thousandths(), needs.vcpus.thousandths());
    if (price_per_hour) bound(price_per_hour->value, price.value);
    return most;
  }
  [[nodiscard]] bool covers(const model::Resources& needs, model::Micros price) const {
    return count(needs, price, 1) == 1;
  }
  /// Takes items that it covers.
  void take(const model::Resources& needs, model::Micros price, std::uint64_t items) {
    const auto n = static_cast<std::int64_t>(items);
    if (vcpus) *vcpus -= needs.vcpus * n;
    if (price_per_hour) price_per_hour->value -= price.value * n;
  }
};

}  // namespace hostler::demand

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/cloud.h"
#include "core/model/resources.h"

namespace hostler::demand {

/// Index of a principal among all that the dispatcher knows. It never changes.
using PrincipalId = std::uint32_t;

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

/// The allowances of all principals; most have no limit.
class Allowances {
 public:
  /// Any principal has a limit.
  [[nodiscard]] bool has_limits() const { return limited_ > 0; }
  [[nodiscard]] const Allowance& of(PrincipalId principal) const {
    static const Allowance none;
    return principal < all_.size() ? all_[principal] : none;
  }
  /// An item with these needs, whose part of a host has this price, is within the allowance.
  [[nodiscard]] bool cover(PrincipalId principal, const model::Resources& needs,
                           model::Micros price) const {
    return limited_ == 0 || of(principal).covers(needs, price);
  }
  /// False: it had no limit, and has none.
  bool set(PrincipalId principal, const Allowance& allowance) {
    const bool was_limited = of(principal).is_limited(), is_limited = allowance.is_limited();
    if (!was_limited && !is_limited) return false;
    if (principal >= all_.size()) all_.resize(principal + 1);
    all_[principal] = allowance;
    limited_ += static_cast<std::size_t>(is_limited);
    limited_ -= static_cast<std::size_t>(was_limited);
    return true;
  }

 private:
  std::vector<Allowance> all_;  ///< By principal.
  std::size_t limited_ = 0;     ///< How many of them have a limit.
};

}  // namespace hostler::demand

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/amounts.h"
#include "core/model/quotas.h"

namespace hostler::demand {

/// Index of a principal among all that the dispatcher knows. It never changes.
using PrincipalId = std::uint32_t;

/// What a principal may hold of hosts besides what it holds now. Unset: no limit. Negative after a
/// limit was lowered.
struct Allowance {
  std::optional<model::Vcpus> vcpus = {};
  std::optional<std::int64_t> gpus = {};
  std::optional<model::Micros> price_per_hour = {};

  /// What its running limits leave to a principal that holds nothing.
  static Allowance of(const model::Quota& quota) {
    return {.vcpus = quota.running_vcpus_max,
            .gpus = quota.running_gpus_max,
            .price_per_hour = quota.running_price_per_hour_max};
  }
  /// As Amounts::values().
  using Values = std::array<std::optional<std::int64_t>, model::Amounts::kCount>;
  [[nodiscard]] Values values() const {
    Values out;
    if (price_per_hour) out[0] = price_per_hour->value;
    if (vcpus) out[1] = vcpus->thousandths();
    out[2] = gpus;
    return out;
  }

  [[nodiscard]] bool is_limited() const { return vcpus || gpus || price_per_hour; }
  /// How many items it covers, at most `most`, if each holds such a part of a host.
  [[nodiscard]] std::uint64_t count(const model::Amounts& part, std::uint64_t most) const {
    const Values left = values();
    const auto each = part.values();
    for (std::size_t i = 0; i < left.size(); ++i)
      if (left[i] && each[i] > 0)
        most = std::min(most,
                        static_cast<std::uint64_t>(std::max<std::int64_t>(0, *left[i]) / each[i]));
    return most;
  }
  [[nodiscard]] bool covers(const model::Amounts& part) const { return count(part, 1) == 1; }
  /// Takes what so many items hold.
  void take(const model::Amounts& part, std::uint64_t items) {
    const auto n = static_cast<std::int64_t>(items);
    if (vcpus) *vcpus -= part.vcpus * n;
    if (gpus) *gpus -= part.gpus * n;
    if (price_per_hour) price_per_hour->value -= part.price_per_hour.value * n;
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
  /// An item that holds such a part of a host is within the allowance.
  [[nodiscard]] bool cover(PrincipalId principal, const model::Amounts& part) const {
    return limited_ == 0 || of(principal).covers(part);
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

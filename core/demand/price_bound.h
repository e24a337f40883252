#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/amounts.h"

namespace hostler::demand {

/// What the parts of hosts may cost that some items will hold, by the allowances of their
/// principals: each item goes only where its own principal can pay for it. The vcpus and gpus of
/// whole hosts are counted likewise, where items get these.
///
/// Exact for up to 32 principals, and for any number of which the shares are equal. Of others those
/// with the nearest shares are counted together; then a host may be bought for an item that cannot
/// start, but there is always one for some item that can.
class PriceBound {
 public:
  static constexpr std::size_t kBucketsMax = 32;
  /// More than all hosts cost and have: no limit.
  static constexpr model::Amounts kAny{{1'000'000'000'000'000}, 1'000'000'000, 1'000'000'000};
  static constexpr model::Amounts only_price(model::Micros left) {
    return {left, kAny.vcpus, kAny.gpus};
  }
  /// What one principal has for its items.
  struct Share {
    model::Amounts left;  ///< What their parts of hosts may come to together.
    std::uint64_t items = 0;
    friend auto operator<=>(const Share&, const Share&) = default;
  };

  /// Principals with nearly equal shares.
  struct Bucket {
    std::uint64_t principals = 0;
    model::Amounts most = kAny;  ///< What one of them had at first.
    Share all = {.left = kAny};

    [[nodiscard]] std::uint64_t count(const model::Amounts& each, std::uint64_t wanted) const;
  };

  explicit PriceBound(std::vector<Share> shares);
  /// One that was written down, see buckets(): at most kBucketsMax.
  static PriceBound of_buckets(std::vector<Bucket> buckets);
  /// The poorest first.
  [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }

  /// How many items may go where a part comes to `each`, at most `wanted`. Not more at a higher
  /// price, nor on a larger host.
  [[nodiscard]] std::uint64_t count(const model::Amounts& each, std::uint64_t wanted) const;
  /// Of items that count() allows. The principals that have least pay first.
  void take(const model::Amounts& each, std::uint64_t items);

 private:
  std::vector<Bucket> buckets_;
};

}  // namespace hostler::demand

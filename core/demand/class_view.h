#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/demand/lane_order.h"
#include "core/demand/price_bound.h"
#include "core/model/records.h"

namespace hostler::demand {

/// Items of a class that a host is created or woken for.
struct Load {
  ClassId cls = 0;
  std::uint32_t count = 0;

  friend bool operator==(const Load&, const Load&) = default;
};

/// When an item is taken, among all items of its priority: the least use first, then the earliest
/// arrival.
struct Turn {
  double use = 0;  ///< The key of its principal (shares.h), with its turns before.
  std::uint64_t arrival = 0;
  friend bool operator<(const Turn& a, const Turn& b) {
    return a.use < b.use || (a.use == b.use && a.arrival < b.arrival);
  }
};

/// Items of a class that a plan may place or find hosts for. A class has up to four views:
/// for items with and without a `price`, and for both again if they are `displaced`.
struct ClassView {
  ClassId id = 0;
  /// To plans it says to which pools items may go (scheduler::takes()): the dispatcher knows what
  /// placing an item of a kind means.
  model::WorkKind kind = model::WorkKind::kJob;
  model::WorkShape shape;
  std::uint64_t count = 0;
  std::vector<Turn> heads = {};  ///< Of the first items, at most 32.
  Mono oldest = {};              ///< When its oldest item was queued.
  /// Its items go only where their parts of hosts are cheap enough for their principals' limits.
  std::optional<PriceBound> price = {};
  /// Its items do not wait yet: they run on hosts that are to be interrupted. Room is found and
  /// bought for them, and none is placed.
  bool displaced = false;
  /// A gang holds no hosts before then, as it has let some go. In the past: it may hold some.
  Mono not_before = {};
};

}  // namespace hostler::demand

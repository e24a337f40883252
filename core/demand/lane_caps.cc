#include "core/demand/lane_caps.h"

#include <algorithm>
#include <utility>

namespace hostler::demand {

const LaneCap* LaneCaps::find_one(PrincipalId principal, ClassId cls) const {
  const auto found = by_principal_.find(principal);
  if (found == by_principal_.end()) return nullptr;
  const auto at = std::ranges::lower_bound(found->second, cls, {}, &OfLane::cls);
  return at == found->second.end() || at->cls != cls ? nullptr : &at->cap;
}

void LaneCaps::set(PrincipalId principal, std::vector<OfLane> lanes) {
  if (lanes.empty()) return;
  std::ranges::sort(lanes, {}, &OfLane::cls);
  for (const OfLane& lane : lanes) {
    OfClass& sum = by_class_[lane.cls];
    sum.beyond += lane.waiting - lane.cap.seen;
    if (!lane.cap.price_left || lane.cap.seen == 0) continue;
    sum.priced += lane.cap.seen;
    sum.shares.push_back({.left = *lane.cap.price_left, .items = lane.cap.seen});
  }
  by_principal_[principal] = std::move(lanes);
}

namespace {

/// A lane, and what it gets of the allowance.
struct Taker {
  ClassId cls = 0;
  const Queue::Class* at = nullptr;
  std::optional<PartPrices> prices;
  std::uint64_t waiting = 0;
  bool is_stuck = false;
  std::uint64_t seen = 0;
  bool is_probe = false;  ///< It gets nothing, and one item is seen all the same.

  /// No part of a host costs less.
  [[nodiscard]] model::Micros least() const { return prices ? prices->least : model::Micros{1}; }
  /// Of the cheapest host that can be had.
  [[nodiscard]] model::Micros price() const {
    return prices ? std::clamp(prices->from, prices->least, prices->most) : model::Micros{1};
  }
};

std::vector<Taker> takers_of(const Queue& queue, PrincipalId principal, bool has_price,
                             const CapRules& rules) {
  std::vector<Taker> out;
  out.reserve(queue.lanes(principal).size());
  for (const auto& [lane, needs] : queue.lanes(principal)) {
    Taker taker{.cls = lane.cls,
                .at = &queue.at(lane.cls),
                .prices = {},
                .waiting = queue.lane(principal, lane.cls).count(),
                .is_stuck = rules.is_stuck(lane.cls)};
    if (has_price) {
      taker.prices = rules.prices(lane.cls);
      taker.is_stuck = taker.is_stuck || !taker.prices;
    }
    out.push_back(taker);
  }
  std::stable_partition(out.begin(), out.end(), [](const Taker& taker) { return !taker.is_stuck; });
  return out;
}

}  // namespace

void cap_lanes_of(const Queue& queue, PrincipalId principal, const CapRules& rules, LaneCaps& out) {
  const Allowance whole = queue.allowance(principal);
  if (!whole.is_limited()) return;
  const bool has_price = whole.price_per_hour.has_value();
  std::vector<Taker> takers = takers_of(queue, principal, has_price, rules);
  Allowance left = whole;
  for (Taker& taker : takers) {
    const model::Resources& needs = taker.at->shape.needs;
    taker.seen = left.count(needs, taker.price(), taker.waiting);
    left.take(needs, taker.price(), taker.seen);
    taker.is_probe = taker.seen == 0 && (taker.is_stuck || taker.price() > taker.least()) &&
                     whole.covers(needs, taker.least());
    if (taker.is_probe) taker.seen = 1;
  }
  // Dearer hosts than the cheapest are paid with what is left, by the first lanes first.
  std::int64_t rest = has_price ? std::max<std::int64_t>(0, left.price_per_hour->value) : 0;
  std::vector<LaneCaps::OfLane> capped;
  for (const Taker& taker : takers) {
    LaneCap cap{.seen = taker.seen, .price_left = {}};
    if (taker.prices && taker.is_probe) {
      if (taker.prices->most > taker.least()) cap.price_left = taker.least();
    } else if (taker.prices && taker.seen > 0) {
      const auto n = static_cast<std::int64_t>(taker.seen);
      const std::int64_t more = taker.prices->most.value - taker.price().value;
      const bool is_enough = more <= rest / n;
      const std::int64_t extra = is_enough ? more * n : rest;
      rest -= extra;
      if (!is_enough) cap.price_left = {taker.price().value * n + extra};
    }
    if (cap.seen < taker.waiting || cap.price_left)
      capped.push_back({.cls = taker.cls, .cap = cap, .waiting = taker.waiting});
  }
  out.set(principal, std::move(capped));
}

LaneCaps cap_lanes(const Queue& queue, const CapRules& rules) {
  LaneCaps out;
  if (!queue.has_limits()) return out;
  for (PrincipalId p = 0; p < queue.principals_end(); ++p)
    if (queue.count(p) > 0) cap_lanes_of(queue, p, rules, out);
  return out;
}

}  // namespace hostler::demand

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
    sum.shares.push_back(
        {.left = *lane.cap.price_left, .items = lane.cap.seen, .vcpus = lane.cap.vcpus_left});
  }
  by_principal_[principal] = std::move(lanes);
}

namespace {

/// A lane, and what it gets of the allowance.
struct Taker {
  ClassId cls = 0;
  const Queue::Class* at = nullptr;
  model::Resources needs;  ///< Each item's; with the vcpus of the smallest host, if exclusive.
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
                .needs = needs,
                .prices = {},
                .waiting = queue.lane(principal, lane.cls).count(),
                .is_stuck = rules.is_stuck(lane.cls)};
    const bool is_exclusive = taker.at->shape.exclusive;
    if (has_price || is_exclusive) {
      taker.prices = rules.prices(lane.cls);
      taker.is_stuck = taker.is_stuck || !taker.prices;
    }
    if (is_exclusive && taker.prices)
      taker.needs.vcpus = std::max(needs.vcpus, taker.prices->vcpus_least);
    out.push_back(taker);
  }
  std::stable_partition(out.begin(), out.end(), [](const Taker& taker) { return !taker.is_stuck; });
  return out;
}

/// Dearer hosts than the cheapest are paid with what is left, by the first lanes first.
std::optional<model::Micros> price_left_of(const Taker& taker, std::int64_t& rest) {
  if (taker.is_probe)
    return taker.prices->most > taker.least() ? std::optional(taker.least()) : std::nullopt;
  const auto n = static_cast<std::int64_t>(taker.seen);
  const std::int64_t more = taker.prices->most.value - taker.price().value;
  const bool is_enough = more <= rest / n;
  const std::int64_t extra = is_enough ? more * n : rest;
  rest -= extra;
  if (is_enough) return std::nullopt;
  return model::Micros{taker.price().value * n + extra};
}

/// Larger hosts than the smallest take what is left of the vcpus, likewise.
std::optional<model::Vcpus> vcpus_left_of(const Taker& taker, model::Vcpus whole,
                                          model::Vcpus& rest) {
  const auto n = static_cast<std::int64_t>(taker.seen);
  const model::Vcpus all = taker.prices->vcpus_most * n;
  if (taker.is_probe) return whole < all ? std::optional(whole) : std::nullopt;
  const model::Vcpus least = taker.needs.vcpus * n, extra = std::min(all - least, rest);
  rest -= extra;
  return least + extra < all ? std::optional(least + extra) : std::nullopt;
}

}  // namespace

void cap_lanes_of(const Queue& queue, PrincipalId principal, const CapRules& rules, LaneCaps& out) {
  const Allowance whole = queue.allowance(principal);
  if (!whole.is_limited()) return;
  const bool has_price = whole.price_per_hour.has_value();
  std::vector<Taker> takers = takers_of(queue, principal, has_price, rules);
  Allowance left = whole;
  for (Taker& taker : takers) {
    taker.seen = left.count(taker.needs, taker.price(), taker.waiting);
    left.take(taker.needs, taker.price(), taker.seen);
    const bool is_too_dear = has_price && taker.price() > taker.least();
    taker.is_probe = taker.seen == 0 && (taker.is_stuck || is_too_dear) &&
                     whole.covers(taker.needs, taker.least());
    if (taker.is_probe) taker.seen = 1;
  }
  std::int64_t rest = has_price ? std::max<std::int64_t>(0, left.price_per_hour->value) : 0;
  model::Vcpus rest_vcpus = std::max(model::Vcpus(), left.vcpus.value_or(model::Vcpus()));
  std::vector<LaneCaps::OfLane> capped;
  for (const Taker& taker : takers) {
    LaneCap cap{.seen = taker.seen, .price_left = {}};
    if (taker.prices && taker.seen > 0) {
      if (has_price) cap.price_left = price_left_of(taker, rest);
      if (whole.vcpus && taker.at->shape.exclusive) {
        const auto left_of = vcpus_left_of(taker, *whole.vcpus, rest_vcpus);
        cap.vcpus_left = left_of.value_or(cap.vcpus_left);
        if (left_of && !cap.price_left) cap.price_left = PriceBound::kAnyPrice;
      }
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

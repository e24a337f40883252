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
    if (!lane.cap.left || lane.cap.seen == 0) continue;
    sum.priced += lane.cap.seen;
    sum.shares.push_back({.left = *lane.cap.left, .items = lane.cap.seen});
  }
  by_principal_[principal] = std::move(lanes);
}

namespace {

/// A lane, and what it gets of the allowance.
struct Taker {
  ClassId cls = 0;
  /// What one item comes to: on any host at least and at most, and where hosts can be had.
  model::Amounts least, most, each;
  std::uint64_t waiting = 0;
  bool is_stuck = false;
  std::uint64_t seen = 0;
  bool is_probe = false;  ///< It gets nothing, and one item is seen all the same.
};

std::vector<Taker> takers_of(const Queue& queue, PrincipalId principal, bool has_price,
                             const CapRules& rules) {
  std::vector<Taker> out;
  out.reserve(queue.lanes(principal).size());
  for (const auto& [lane, needs] : queue.lanes(principal)) {
    // No part of a host costs less.
    const auto least = model::Amounts::of(needs, model::Micros{1});
    Taker taker{.cls = lane.cls,
                .least = least,
                .most = least,
                .each = least,
                .waiting = queue.lane(principal, lane.cls).count(),
                .is_stuck = rules.is_stuck(lane.cls)};
    if (has_price || queue.at(lane.cls).shape.exclusive) {
      const auto part = rules.parts(lane.cls);
      taker.is_stuck = taker.is_stuck || !part;
      if (part) {
        taker.each = taker.least = part->least;
        taker.most = part->most;
        taker.each.price_per_hour =
            std::clamp(part->from, part->least.price_per_hour, part->most.price_per_hour);
      }
    }
    out.push_back(taker);
  }
  std::stable_partition(out.begin(), out.end(), [](const Taker& taker) { return !taker.is_stuck; });
  return out;
}

/// Dearer and larger hosts than the least are paid with what is left, by the first lanes first.
/// Unset: the items can pay for any.
std::optional<std::int64_t> bound_of(std::int64_t each, std::int64_t most, std::uint64_t items,
                                     std::int64_t& rest) {
  const auto n = static_cast<std::int64_t>(items);
  const bool is_enough = most - each <= rest / n;
  const std::int64_t extra = is_enough ? (most - each) * n : rest;
  rest -= extra;
  return is_enough ? std::nullopt : std::optional(each * n + extra);
}

/// LaneCap::left.
std::optional<model::Amounts> left_of(const Taker& taker, const Allowance& whole,
                                      model::Amounts::Values& rest) {
  const auto limits = whole.values();
  const auto least = taker.least.values(), most = taker.most.values(), each = taker.each.values();
  auto out = PriceBound::kAny.values();
  bool is_bound = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!limits[i]) continue;
    // A lane that gets nothing shows an item for the cheapest host, of any size within the limit.
    const std::int64_t of_probe = i == model::Amounts::kPrice ? least[i] : *limits[i];
    const auto bound = !taker.is_probe      ? bound_of(each[i], most[i], taker.seen, rest[i])
                       : of_probe < most[i] ? std::optional(of_probe)
                                            : std::nullopt;
    out[i] = bound.value_or(out[i]);
    is_bound = is_bound || bound;
  }
  return is_bound ? std::optional(model::Amounts::of(out)) : std::nullopt;
}

}  // namespace

void cap_lanes_of(const Queue& queue, PrincipalId principal, const CapRules& rules, LaneCaps& out) {
  const Allowance whole = queue.allowance(principal);
  if (!whole.is_limited()) return;
  const bool has_price = whole.price_per_hour.has_value();
  std::vector<Taker> takers = takers_of(queue, principal, has_price, rules);
  Allowance left = whole;
  for (Taker& taker : takers) {
    taker.seen = left.count(taker.each, taker.waiting);
    left.take(taker.each, taker.seen);
    const bool is_too_dear = has_price && taker.each.price_per_hour > taker.least.price_per_hour;
    taker.is_probe =
        taker.seen == 0 && (taker.is_stuck || is_too_dear) && whole.covers(taker.least);
    if (taker.is_probe) taker.seen = 1;
  }
  model::Amounts::Values rest{};
  for (std::size_t i = 0; i < rest.size(); ++i)
    rest[i] = std::max<std::int64_t>(0, left.values()[i].value_or(0));
  std::vector<LaneCaps::OfLane> capped;
  for (const Taker& taker : takers) {
    LaneCap cap{.seen = taker.seen};
    if (taker.seen > 0) cap.left = left_of(taker, whole, rest);
    if (cap.seen < taker.waiting || cap.left)
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

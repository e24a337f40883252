#include "core/scheduler/pack.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "core/scheduler/fit.h"
#include "core/scheduler/price_rule.h"

namespace hostler::scheduler {
namespace {

/// Times the bound of a kind: a better fill is not sought.
constexpr double kGoodEnough = 1.001;
constexpr double kCheapEnough = 1.01;   ///< Times the bound: a better packing is not sought.
constexpr double kStillCheap = 1.02;    ///< Times the bound: no other division is sought.
constexpr double kNearlyEqual = 1.004;  ///< Times another price per worth.
constexpr double kSpare = 1.05;         ///< A host that is larger by so much holds all the rest.
constexpr double kSizeStep = 1.25;      ///< From one size of a family that is tried to the next.
constexpr int kKindsTried = 16;         ///< Kinds tried in one step after the first that fits.
constexpr int kRoundsOfShares = 4;      ///< Of these, with equal shares only.
constexpr int kRoundsMax = 12;          ///< Packings tried.
/// Of all demand's worth, the least that each resource has. One that is not scarce has some worth,
/// or the last hosts would have to hold all of it; with too much, small hosts are bought for it.
constexpr std::array kDivisions{0.3, 0.02};
constexpr std::ptrdiff_t kPatternsFew = 40;
constexpr std::uint64_t kHostsFew = 4, kItemsPerHost = 20;
constexpr double kLeastSize = 1.0 / model::kJobsOnHostMax;
constexpr std::uint64_t kWorkMax = 1'000'000;

}  // namespace

Packer::Packer(const World& world, std::vector<Lot> lots)
    : world_(world), lots_(std::move(lots)), worth_(lots_.size()) {
  // In an order of their own: the order of classes decides nothing here.
  std::ranges::stable_sort(lots_, std::ranges::greater{}, &Lot::item);
  for (const Lot& lot : lots_) {
    shapes_.push_back({.size = vector_of(lot.item)});
    // What needs nothing takes a place on its host all the same.
    if (shapes_.back().size == ResourceVector{}) shapes_.back().size[0] = kLeastSize;
  }
  if (lots_.empty()) return;
  std::uint64_t items = 0;
  for (const Lot& lot : lots_) items += lot.left;
  round_.hosts_most = std::max(kHostsFew, (items - 1) / kItemsPerHost);
  gather_kinds();
  drop_dominated();
  if (order_.empty()) return;  // At a ceiling, mostly.
  solve(weigh());
}

/// Tries several greedy packings and keeps the cheapest.
void Packer::solve(const ResourceVector& weights) {
  const std::uint64_t hosts_most = round_.hosts_most;
  auto [best, division] = pack_by_divisions(weights);
  improve(best);
  for (const double other : kDivisions) {
    if (other == division || best.cost <= lower_bound_ * kStillCheap) continue;
    divide_worth(weights, other);
    improve(best);
  }
  divide_worth(weights, division);
  round_ = {.rules = kAllRules, .good_enough = kGoodEnough, .hosts_most = hosts_most};
  bound_kinds();
  solved_.assign(best.patterns.rbegin(), best.patterns.rend());
}

/// With equal shares. Also the division whose worths stay: the first, unless another is cheap at
/// once. Where none is, its packings end up cheaper on more menus.
std::pair<Packer::Packing, double> Packer::pack_by_divisions(const ResourceVector& weights) {
  round_.rules = std::span(kAllRules).first(1);
  round_.good_enough = kNearlyEqual;
  double division = kDivisions.front();
  divide_worth(weights, division);
  Packing best = *pack_all(true);
  const std::uint64_t work = work_;
  for (const double least : std::span(kDivisions).subspan(1)) {
    if (is_cheap(best, is_short(best))) break;
    divide_worth(weights, least);
    auto packing = pack_all(false);
    if (!packing) break;
    if (keep_better(best, std::move(*packing)) && best.cost <= lower_bound_ * kStillCheap)
      division = least;
  }
  divide_worth(weights, division);
  work_ = work;  // What follows has as much as without the other divisions.
  return {std::move(best), division};
}

/// At first equal shares again, with fewer and fewer hosts; where they do not combine well, other
/// rules. A lot that ended in badly filled hosts is worth more in the next try: it is packed
/// earlier, together with lots that fit it.
void Packer::improve(Packing& best) {
  const std::uint64_t hosts_most = round_.hosts_most;
  for (int round = 1; round < kRoundsMax && !must_hurry(); ++round) {
    const bool shares_only = round < kRoundsOfShares;
    if (is_cheap(best, shares_only && is_short(best))) break;
    if (shares_only && !is_short(best)) continue;
    const std::size_t rules = shares_only ? 1 : round % 2 == 1 ? 2 : 4;
    round_.rules = std::span(kAllRules).first(rules);
    round_.good_enough = shares_only ? kNearlyEqual : kGoodEnough;
    const auto rounds_left = static_cast<std::uint64_t>(std::max(1, kRoundsOfShares - round));
    round_.hosts_most = shares_only
                            ? std::max<std::uint64_t>(1, hosts_most * rounds_left / kRoundsOfShares)
                            : hosts_most;
    auto packing = pack_all(false);
    if (!packing) break;
    if (round + 1 >= kRoundsOfShares) adjust_worths(*packing);
    (void)keep_better(best, std::move(*packing));
  }
  round_.hosts_most = hosts_most;
}

/// With more patterns it does not matter how well the last hosts are filled.
bool Packer::is_short(const Packing& one) { return std::ssize(one.patterns) <= kPatternsFew; }

/// No better packing is sought; `strictly`: if the next try is a quick one.
bool Packer::is_cheap(const Packing& one, bool strictly) const {
  return one.unpacked == 0 && one.cost <= lower_bound_ * (strictly ? kNearlyEqual : kCheapEnough);
}

bool Packer::keep_better(Packing& best, Packing tried) {
  const bool is_better = std::tie(tried.unpacked, tried.cost) < std::tie(best.unpacked, best.cost);
  if (is_better) best = std::move(tried);
  return is_better;
}

/// The work budget is spent: from here on the first host that fits is good enough.
bool Packer::must_hurry() const { return work_ >= kWorkMax; }

/// nullopt if the work budget is spent before the packing is complete, unless it `must_end`.
std::optional<Packer::Packing> Packer::pack_all(bool must_end) {
  std::vector<std::uint64_t> left;
  for (const Lot& lot : lots_) left.push_back(lot.left);
  const std::uint64_t hosts = hosts_;
  Packing out;
  bound_kinds();
  // One host for all the rest may cost less than the hosts that look best one by one.
  Fill rest, last;
  double with_last = HUGE_VAL;
  std::size_t before_last = 0;
  for (;;) {
    if (hold_rest(rest) && out.cost + kinds_[rest.kind].price < with_last) {
      with_last = out.cost + kinds_[rest.kind].price;
      before_last = out.patterns.size();
      last = rest;
    }
    auto pattern = !must_end && must_hurry() ? std::nullopt : step();
    if (!pattern) break;
    took(*pattern, pattern->copies);
    out.cost += kinds_[pattern->kind].price * static_cast<double>(pattern->copies);
    out.patterns.push_back(std::move(*pattern));
  }
  for (std::size_t l = 0; l < lots_.size(); ++l) {
    out.unpacked += static_cast<double>(lots_[l].left);
    lots_[l].left = left[l];
  }
  if (last.kind != kNone && (out.unpacked > 0 || with_last < out.cost * (1 - 1e-9))) {
    out.patterns.resize(before_last);
    out.patterns.push_back({.kind = last.kind, .items = std::move(last.items), .copies = 1});
    out.cost = with_last;
    out.unpacked = 0;
  }
  hosts_ = hosts;
  if (!must_end && must_hurry()) return std::nullopt;
  return out;
}

void Packer::adjust_worths(const Packing& packing) {
  std::vector<double> paid(lots_.size()), worth(lots_.size());
  for (const Pattern& p : packing.patterns) {
    double in_it = 0;
    for (const auto& [l, count] : p.items) in_it += worth_[l] * count;
    const auto copies = static_cast<double>(p.copies);
    for (const auto& [l, count] : p.items) {
      worth[l] += worth_[l] * count * copies;
      paid[l] += worth_[l] * count * copies * kinds_[p.kind].price / in_it;
    }
  }
  for (std::size_t l = 0; l < lots_.size(); ++l)
    if (worth[l] > 0) worth_[l] *= paid[l] / worth[l];
}

std::optional<Pattern> Packer::next() {
  if (solved_.empty()) return step();
  Pattern out = std::move(solved_.back());
  solved_.pop_back();
  return out;
}

/// The kinds to try for the next host. Of a family, whose prices are equal, that is the smallest
/// with which the plan keeps to few hosts, and some larger ones up to one that holds all the rest.
std::vector<Packer::Candidate> Packer::find_candidates(double left, bool all) const {
  std::vector<Candidate> out;
  const auto add = [&](std::uint32_t k) {
    out.push_back({std::max(kinds_[k].bound, kinds_[k].price / left), k});
  };
  if (all) std::ranges::for_each(order_, add);
  if (all) return out;
  const auto holds = [&](const Kind& kind) { return kind.price / kind.bound; };
  for (const auto& family : families_) {
    double last = 0;
    for (std::size_t i = 0; i < family.size(); ++i) {
      const Kind& kind = kinds_[family[i]];
      const bool is_last = i + 1 == family.size() || holds(kind) >= left * kSpare;
      const std::uint64_t most = std::min(round_.hosts_most, kind.room);
      const double hosts = static_cast<double>(hosts_) + std::ceil(left / holds(kind));
      if (!is_last && (hosts > static_cast<double>(most) || kind.price < last * kSizeStep))
        continue;
      add(family[i]);
      last = kind.price;
      if (is_last) break;
    }
  }
  return out;
}

/// The best fill of all candidates: those of the lowest bound are tried first.
Packer::Fill Packer::best_of(std::vector<Candidate> candidates) {
  double best_ratio = HUGE_VAL;
  Fill tried, best;
  std::size_t next = 0;
  for (int after = 0; next < candidates.size(); ++next) {
    // The lowest of the rest; of equal ones the first, which is the smallest of its family.
    const auto rest = candidates.begin() + static_cast<std::ptrdiff_t>(next);
    const auto lowest = std::ranges::min_element(rest, candidates.end(), {}, &Candidate::least);
    std::rotate(rest, lowest, lowest + 1);
    const auto [least, k] = candidates[next];
    if (best.kind != kNone &&
        (must_hurry() || least * round_.good_enough >= best_ratio || ++after > kKindsTried))
      break;
    for (const FillRule rule : must_hurry() ? round_.rules.first(1) : round_.rules) {
      fill(k, rule, tried);
      if (tried.items.empty()) continue;
      if (kinds_[k].price > tried.worth * least * kGoodEnough ||
          kinds_[k].like->market == model::Market::kSpot || kinds_[k].like->resources.gpus > 0)
        use_cheapest(tried);
      if (too_dear(tried)) {
        round_.was_too_dear = true;
        continue;
      }
      const double ratio = kinds_[tried.kind].price / tried.worth;
      // A larger host of equal price is not better.
      const bool is_larger = best.kind != kNone &&
                             kinds_[best.kind].family == kinds_[tried.kind].family &&
                             kinds_[tried.kind].price > kinds_[best.kind].price;
      if (ratio >= best_ratio * (is_larger ? 2 - kNearlyEqual : 1 - 1e-12)) continue;
      best_ratio = ratio;
      std::swap(best, tried);
    }
  }
  return best;
}

std::optional<Pattern> Packer::step() {
  double left = 0;
  for (std::size_t l = 0; l < lots_.size(); ++l)
    left += worth_[l] * static_cast<double>(lots_[l].left);
  if (left <= 0) return std::nullopt;
  Fill best;
  for (const bool all : {false, true}) {
    best = best_of(find_candidates(left, all));
    if (best.kind != kNone) break;
  }
  if (best.kind == kNone && round_.was_too_dear) best = fill_for_one_lot();
  if (best.kind == kNone) return std::nullopt;
  return Pattern{.kind = best.kind, .items = std::move(best.items), .copies = best.copies};
}

void Packer::took(const Pattern& pattern, std::uint64_t copies) {
  bool ran_out = false;
  for (const auto& [l, count] : pattern.items) {
    lots_[l].left -= count * copies;
    ran_out = ran_out || lots_[l].left == 0;
  }
  hosts_ += copies;
  if (ran_out && ++round_.since_bound >= 4) bound_kinds();
}

void Packer::exhausted(std::uint32_t kind) {
  solved_.clear();
  const auto may_create = [&](const Kind& k) {
    return std::ranges::any_of(k.offerings, [&](std::uint32_t o) {
      return world_.budget.creates(world_.snapshot.offerings[o], 1) > 0;
    });
  };
  // The ceiling is one of others too, mostly.
  const auto gone = [&](std::uint32_t k) { return k == kind || !may_create(kinds_[k]); };
  std::erase_if(order_, gone);
  for (auto& family : families_) std::erase_if(family, gone);
  std::erase_if(families_, [](const auto& family) { return family.empty(); });
  if (!order_.empty()) return;
  // A kind that was dropped as dominated may be the only one left.
  std::erase_if(kinds_, [&](const Kind& k) { return !may_create(k); });
  drop_dominated();
  bound_kinds();
}

}  // namespace hostler::scheduler

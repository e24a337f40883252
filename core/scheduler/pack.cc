#include "core/scheduler/pack.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/scheduler/fit.h"

namespace hostler::scheduler {
namespace {

constexpr double kGoodEnough = 1.001;  ///< Times the bound: stop looking for better.
constexpr int kKindsTried = 16;        ///< Kinds tried in one step after the first that fits.
constexpr int kRoundsMax = 12;         ///< Packings tried.
constexpr std::uint64_t kWorkMax = 1'000'000;

}  // namespace

Packer::Packer(const World& world, std::vector<Lot> lots)
    : world_(world), lots_(std::move(lots)), worth_(lots_.size()) {
  for (const Lot& lot : lots_) sizes_.push_back(vector_of(world.needs[lot.need].resources));
  if (lots_.empty()) return;
  gather_kinds();
  drop_dominated();
  weigh();
  solve();
}

/// Tries several greedy packings and keeps the cheapest. A lot that ended in badly filled hosts is
/// worth more in the next try: it is packed earlier, together with lots that fit it.
void Packer::solve() {
  const std::vector<double> worth = worth_;
  Packing best;
  for (int round = 0; round < kRoundsMax && (round == 0 || work_ < kWorkMax); ++round) {
    all_rules_ = round % 2 == 1;
    Packing packing = pack_all();
    adjust_worths(packing);
    if (round == 0 || std::tie(packing.unpacked, packing.cost) < std::tie(best.unpacked, best.cost))
      best = std::move(packing);
    if (best.unpacked == 0 && best.cost <= lower_bound_ * kGoodEnough) break;
  }
  worth_ = worth;
  all_rules_ = false;
  order_kinds();
  solved_.assign(best.patterns.rbegin(), best.patterns.rend());
}

Packer::Packing Packer::pack_all() {
  std::vector<std::uint64_t> left;
  for (const Lot& lot : lots_) left.push_back(lot.left);
  Packing out;
  order_kinds();
  while (auto pattern = step()) {
    took(*pattern, pattern->copies);
    out.cost += kinds_[pattern->kind].price * static_cast<double>(pattern->copies);
    out.patterns.push_back(std::move(*pattern));
  }
  for (std::size_t l = 0; l < lots_.size(); ++l) {
    out.unpacked += static_cast<double>(lots_[l].left);
    lots_[l].left = left[l];
  }
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

/// Fills one host greedily, with the item that has the best score by the rule.
void Packer::fill(const Kind& kind, FillRule rule, Fill& out) {
  out.items.clear();
  out.worth = 0;
  model::Resources free = kind.like->resources;
  std::uint64_t attempts = static_cast<std::uint64_t>(kind.attempts_max);
  static constexpr std::uint32_t kNoLot = UINT32_MAX;
  std::vector<std::uint64_t> used(kind.lots.size(), 0);
  while (attempts > 0) {
    const auto room = vector_of(free);
    ResourceVector pull{};
    for (std::size_t d = 0; d < 4; ++d)
      if (kind.size[d] > 0) pull[d] = room[d] / (kind.size[d] * kind.size[d]);
    work_ += kind.lots.size();
    std::uint32_t best = kNoLot;
    double best_score = -1;
    for (std::uint32_t i = 0; i < kind.lots.size(); ++i) {
      const std::uint32_t l = kind.lots[i];
      if (lots_[l].left <= used[i]) continue;
      if (!world_.needs[lots_[l].need].resources.fits_in(free)) continue;
      const double score = rule == FillRule::kDot      ? dot(pull, sizes_[l])
                           : rule == FillRule::kCosine ? dot(pull, sizes_[l]) / norm_[l]
                                                       : worth_[l];
      if (score > best_score) best = i, best_score = score;
    }
    if (best == kNoLot) break;
    const std::uint32_t l = kind.lots[best];
    const auto& item = world_.needs[lots_[l].need].resources;
    const std::uint64_t fits =
        std::min({fit_count(item, free), lots_[l].left - used[best], attempts});
    const std::uint64_t count = std::max<std::uint64_t>(1, fits / 4);
    free -= times(item, count);
    used[best] += count;
    attempts -= count;
    out.worth += worth_[l] * static_cast<double>(count);
  }
  for (std::uint32_t i = 0; i < kind.lots.size(); ++i)
    if (used[i] > 0) out.items.emplace_back(kind.lots[i], static_cast<std::uint32_t>(used[i]));
}

/// The host costs more than the price factor times the cheapest host for each of its items.
bool Packer::too_dear(const Kind& kind, const Fill& fill) const {
  double singly = 0;
  for (const auto& [l, count] : fill.items)
    singly +=
        static_cast<double>(
            world_.needs[lots_[l].need].cheapest[kind.like->market == model::Market::kSpot].value) *
        count;
  return static_cast<double>(kind.like->price_per_hour.value) >
         singly * world_.policy.pools[kind.like->pool].price_factor_max;
}

std::optional<Pattern> Packer::step() {
  double left = 0;
  for (std::size_t l = 0; l < lots_.size(); ++l)
    left += worth_[l] * static_cast<double>(lots_[l].left);
  Fill tried, best;
  double best_ratio = HUGE_VAL;
  std::uint32_t best_kind = kNone;
  int after = 0;
  for (const std::uint32_t k : order_) {
    const Kind& kind = kinds_[k];
    if (best_kind != kNone && (kind.bound * kGoodEnough >= best_ratio || ++after > kKindsTried))
      break;
    if (kind.price >= best_ratio * left) continue;
    for (const FillRule rule : {FillRule::kDot, FillRule::kCosine, FillRule::kWorth}) {
      if (rule != FillRule::kDot && !all_rules_) break;
      fill(kind, rule, tried);
      if (tried.items.empty() || too_dear(kind, tried)) continue;
      const double ratio = kind.price / tried.worth;
      if (ratio >= best_ratio * (1 - 1e-12)) continue;
      best_ratio = ratio;
      best_kind = k;
      std::swap(best, tried);
    }
  }
  if (best_kind == kNone) return std::nullopt;
  Pattern out{.kind = best_kind, .items = std::move(best.items), .copies = UINT64_MAX};
  for (const auto& [l, count] : out.items) out.copies = std::min(out.copies, lots_[l].left / count);
  return out;
}

void Packer::took(const Pattern& pattern, std::uint64_t copies) {
  bool ran_out = false;
  for (const auto& [l, count] : pattern.items) {
    lots_[l].left -= count * copies;
    ran_out = ran_out || lots_[l].left == 0;
  }
  if (ran_out && ++rounds_since_order_ >= 4) order_kinds();
}

void Packer::exhausted(std::uint32_t kind) {
  solved_.clear();
  std::erase(order_, kind);
  if (!order_.empty()) return;
  // A kind that was dropped as dominated may be the only one left.
  std::erase_if(kinds_, [&](const Kind& k) {
    return std::none_of(k.offerings.begin(), k.offerings.end(), [&](std::uint32_t o) {
      return world_.budget.creates(world_.snapshot.offerings[o], 1) > 0;
    });
  });
  drop_dominated();
  order_kinds();
}

}  // namespace hostler::scheduler

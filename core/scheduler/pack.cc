#include "core/scheduler/pack.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "core/scheduler/fit.h"

namespace hostler::scheduler {
namespace {

constexpr double kGiB = 1073741824.0;
constexpr double kGoodEnough = 1.001;  ///< Of the bound: look at no more kinds.
constexpr int kKindsTried = 16;        ///< In one step, once one was found.
constexpr int kRoundsMax = 12;         ///< Packings tried.
constexpr std::uint64_t kWorkMax = 1'000'000;

std::array<double, 4> sizes(const model::Resources& r) {
  return {static_cast<double>(r.vcpus), static_cast<double>(r.gpus),
          static_cast<double>(r.ram) / kGiB, static_cast<double>(r.scratch) / kGiB};
}

double dot(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/// Free types count by size, so that not the largest is taken for the smallest job.
double effective_price(const Offering& o) {
  if (o.price_per_hour.value > 0) return static_cast<double>(o.price_per_hour.value);
  const auto s = sizes(o.resources);
  return (1 + s[0] + 8 * s[1] + s[2] / 4 + s[3] / 256) * 1e-6;
}

std::uint64_t fit_count(const model::Resources& item, const model::Resources& room) {
  std::int64_t n = INT32_MAX;
  if (item.vcpus > 0) n = std::min<std::int64_t>(n, room.vcpus / item.vcpus);
  if (item.gpus > 0) n = std::min<std::int64_t>(n, room.gpus / item.gpus);
  if (item.ram > 0) n = std::min(n, room.ram / item.ram);
  if (item.scratch > 0) n = std::min(n, room.scratch / item.scratch);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, n));
}

model::Resources times(const model::Resources& r, std::uint64_t n) {
  const auto k = static_cast<std::int64_t>(n);
  return {.vcpus = static_cast<std::int32_t>(r.vcpus * k),
          .gpus = static_cast<std::int32_t>(r.gpus * k),
          .ram = r.ram * k,
          .scratch = r.scratch * k};
}

bool may_go(const World& world, const Lot& lot, std::uint32_t index) {
  const Offering& o = world.snapshot.offerings[index];
  const Need& need = world.needs[lot.need];
  return need.resources.fits_in(o.resources) && world.meets(need, index) &&
         (o.market == model::Market::kSpot ? !need.spot_in_vain : bool{lot.on_demand[o.pool]});
}

}  // namespace

std::vector<Lot> lots_of(const World& world, std::uint32_t from, std::uint32_t to) {
  std::vector<Lot> lots;
  std::map<std::pair<std::uint32_t, std::vector<bool>>, std::size_t> seen;
  for (std::uint32_t d = from; d < to; ++d) {
    const Demand& demand = world.demand[d];
    if (demand.uncovered == 0) continue;
    const Need& need = world.needs[demand.need];
    std::vector<bool> on_demand;
    for (const auto& pool : world.policy.pools)
      on_demand.push_back(need.constraints->market || !need.has_spot ||
                          world.snapshot.now - demand.view->oldest >= pool.spot_patience);
    const auto [found, fresh] = seen.try_emplace({demand.need, on_demand}, lots.size());
    if (fresh)
      lots.push_back(
          {.need = demand.need, .on_demand = std::move(on_demand), .demand = {}, .left = 0});
    Lot& lot = lots[found->second];
    lot.demand.push_back(d);
    lot.left += demand.uncovered;
  }
  return lots;
}

Packer::Packer(const World& world, std::vector<Lot> lots)
    : world_(world), lots_(std::move(lots)), worth_(lots_.size()) {
  for (const Lot& lot : lots_) sizes_.push_back(sizes(world.needs[lot.need].resources));
  if (lots_.empty()) return;
  gather_kinds();
  drop_dominated();
  weigh();
  solve();
}

/// Greedy packings differ in what they leave to the end. Lots that ended in bad fills are worth
/// more in the next try, so that they find better company; the cheapest packing is kept.
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

void Packer::gather_kinds() {
  const bool zones_matter = std::any_of(lots_.begin(), lots_.end(), [&](const Lot& lot) {
    return !world_.needs[lot.need].constraints->zone.empty();
  });
  std::map<std::tuple<std::uint32_t, std::uint32_t, model::Market, std::int64_t, std::string>,
           std::size_t>
      seen;
  for (const std::uint32_t i : world_.offers) {
    const Offering& o = world_.snapshot.offerings[i];
    const auto& pool = world_.policy.pools[o.pool];
    if (!o.shut.empty() || world_.pool_held[o.pool] || world_.budget.creates(o, 1) == 0) continue;
    if (!within_cap(o, world_.policy)) continue;
    const auto [found, fresh] = seen.try_emplace(
        {o.pool, o.type, o.market, o.price_per_hour.value, zones_matter ? o.zone : ""},
        kinds_.size());
    if (!fresh) {
      kinds_[found->second].offerings.push_back(i);
      continue;
    }
    Kind kind;
    kind.offerings = {i};
    kind.like = &o;
    if (pool.attempts_parallel_max > 0) kind.attempts_max = pool.attempts_parallel_max;
    kind.price = effective_price(o);
    kind.size = sizes(o.resources);
    for (std::uint32_t l = 0; l < lots_.size(); ++l)
      if (may_go(world_, lots_[l], i)) kind.lots.push_back(l);
    if (kind.lots.empty())
      seen.erase(found);
    else
      kinds_.push_back(std::move(kind));
  }
}

/// A kind that is no larger and no cheaper than another of its pool is never the better choice.
void Packer::drop_dominated() {
  order_.clear();
  for (std::uint32_t k = 0; k < kinds_.size(); ++k) {
    const Kind& a = kinds_[k];
    const bool dominated = std::any_of(order_.begin(), order_.end(), [&](std::uint32_t other) {
      const Kind& b = kinds_[other];  // not dearer: kinds are in the order of their prices
      return a.like->pool == b.like->pool && a.price >= b.price &&
             a.like->resources.fits_in(b.like->resources) &&
             std::includes(b.lots.begin(), b.lots.end(), a.lots.begin(), a.lots.end());
    });
    if (!dominated) order_.push_back(k);
  }
}

/// Each lot's items cost at least weight times the cheapest price per weight of its kinds.
double Packer::bound_of(const Vector& weights, std::vector<double>* worths) const {
  std::vector<double> cheapest(lots_.size(), HUGE_VAL);
  for (const std::uint32_t k : order_) {
    const double per_weight = kinds_[k].price / std::max(dot(weights, kinds_[k].size), 1e-300);
    for (const std::uint32_t l : kinds_[k].lots) cheapest[l] = std::min(cheapest[l], per_weight);
  }
  double sum = 0;
  for (std::size_t l = 0; l < lots_.size(); ++l) {
    if (cheapest[l] == HUGE_VAL) cheapest[l] = 0;  // nothing may hold it
    const double worth = cheapest[l] * dot(weights, sizes_[l]);
    if (worths != nullptr) (*worths)[l] = worth;
    sum += worth * static_cast<double>(lots_[l].left);
  }
  return sum;
}

void Packer::weigh() {
  Vector total{};
  for (std::size_t l = 0; l < lots_.size(); ++l)
    for (std::size_t d = 0; d < 4; ++d)
      total[d] += sizes_[l][d] * static_cast<double>(lots_[l].left);
  for (std::size_t d = 0; d < 4; ++d) weights_[d] = total[d] > 0 ? 1 / total[d] : 0;
  if (weights_ == Vector{}) weights_[0] = 1;
  double best = bound_of(weights_, nullptr);
  for (const double step : {16.0, 4.0, 2.0, 1.4, 1.15, 1.05})
    for (std::size_t d = 0; d < 4; ++d)
      for (const double factor : {step, 1 / step}) {
        Vector tried = weights_;
        tried[d] *= factor;
        const double bound = weights_[d] > 0 ? bound_of(tried, nullptr) : 0;
        if (bound > best) weights_ = tried, best = bound;
      }
  lower_bound_ = bound_of(weights_, &worth_);
  for (double& worth : worth_) worth = std::max(worth, 1e-9);
  for (std::size_t l = 0; l < lots_.size(); ++l) {
    Vector w{};
    for (std::size_t d = 0; d < 4; ++d) w[d] = weights_[d] * sizes_[l][d];
    norm_.push_back(std::max(std::sqrt(dot(w, w)), 1e-300));
  }
}

void Packer::order_kinds() {
  for (const std::uint32_t k : order_) {
    Kind& kind = kinds_[k];
    double density = 1e-300;
    for (const std::uint32_t l : kind.lots)
      if (lots_[l].left > 0)
        density = std::max(density, worth_[l] / std::max(dot(weights_, sizes_[l]), 1e-300));
    kind.bound = kind.price / std::max(density * dot(weights_, kind.size), 1e-300);
    kind.rank = std::llround(std::log(std::max(kind.bound, 1e-300)) * 1e6);
  }
  // Equal bounds: the larger first, which fills with less left over and needs fewer instances.
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (kinds_[a].rank != kinds_[b].rank) return kinds_[a].rank < kinds_[b].rank;
    return kinds_[a].price > kinds_[b].price;
  });
  rounds_since_order_ = 0;
}

/// Items go in by the dot product of what they need and what is still free.
void Packer::fill(const Kind& kind, FillRule rule, Fill& out) {
  out.items.clear();
  out.worth = 0;
  model::Resources free = kind.like->resources;
  std::uint64_t attempts = static_cast<std::uint64_t>(kind.attempts_max);
  static constexpr std::uint32_t kNoLot = UINT32_MAX;
  std::vector<std::uint64_t> used(kind.lots.size(), 0);
  while (attempts > 0) {
    const auto room = sizes(free);
    Vector pull{};
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

/// The price factor, for the whole of what goes there: what it would cost at cheapest, one by one.
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
  // What was dominated may be all that is left.
  std::erase_if(kinds_, [&](const Kind& k) {
    return std::none_of(k.offerings.begin(), k.offerings.end(), [&](std::uint32_t o) {
      return world_.budget.creates(world_.snapshot.offerings[o], 1) > 0;
    });
  });
  drop_dominated();
  order_kinds();
}

}  // namespace hostler::scheduler

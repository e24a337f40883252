#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "core/demand/shares.h"
#include "core/scheduler/pack.h"
#include "core/scheduler/price_rule.h"

/// The input of the packer: lots, kinds of host, and the worth of each.
namespace hostler::scheduler {
namespace {

bool may_go(const World& world, const Lot& lot, std::uint32_t index) {
  const Offering& o = world.snapshot.offerings[index];
  const Need& need = world.needs[lot.need];
  return lot.item.fits_in(o.resources) && world.meets(need, index) &&
         (o.gpus.size() < 2 || model::has_cards(o.gpus, need.wish(), lot.item.gpus)) &&
         (o.market == model::Market::kSpot ? may_be_spot(need) : bool{lot.on_demand[o.pool]}) &&
         (!lot.price_most || world.price_of_part(lot.item, o) <= *lot.price_most);
}

/// The lot of a priced demand: as many items as the cheapest part of a host that can be had lets it
/// pay for, and only where so many can be paid for. A host of which these items alone fill too
/// little for its price counts only if there is no other: work of others may fill the rest.
void bound_by_price(const World& world, const Demand& demand, Lot& lot) {
  const Need& need = world.needs[demand.need];
  const demand::PriceBound& bound = world.prices[demand.price];
  std::vector<model::Micros> parts, shared_parts;
  for (const std::uint32_t i : world.offers) {
    const Offering& o = world.snapshot.offerings[i];
    if (!need.resources.fits_in(o.resources) || !may_go(world, lot, i) || !may_buy(world, o))
      continue;
    const auto each = world.price_of_part(demand, o);
    const std::uint64_t items =
        bound.count({each}, std::min(world.items_per_host(need, o), demand.uncovered));
    if (items == 0) continue;
    (is_too_dear(world, need, o, items) ? shared_parts : parts).push_back(each);
  }
  if (parts.empty()) parts = std::move(shared_parts);
  if (parts.empty()) return;
  std::ranges::sort(parts);
  lot.left = bound.count({parts.front()}, demand.uncovered);
  // At a higher price fewer can be paid for.
  const auto dearer = std::ranges::partition_point(
      parts, [&](model::Micros each) { return bound.count({each}, lot.left) == lot.left; });
  lot.price_most = *std::prev(dearer);
}

/// A host of `large`, which has room for each item that one of `small` has room for, also has cards
/// for as many of them: those of one group serve all wishes, those of several may not.
bool has_cards_of(const Offering& large, const Offering& small) {
  return large.gpus.size() < 2 || small.resources.gpus == 0;
}

}  // namespace

std::vector<Lot> lots_of(const World& world, std::uint32_t from, std::uint32_t to) {
  std::vector<Lot> lots;
  std::map<std::pair<std::uint32_t, std::vector<bool>>, std::size_t> seen;
  for (std::uint32_t d = from; d < to; ++d) {
    const Demand& demand = world.demand[d];
    if (demand.uncovered == 0 || world.needs[demand.need].exclusive) continue;
    std::vector<bool> on_demand;
    for (std::uint32_t p = 0; p < world.policy.pools.size(); ++p)
      on_demand.push_back(may_be_on_demand(world, demand, p));
    if (demand.price != kNone) {
      Lot lot{.need = demand.need,
              .item = world.needs[demand.need].resources,
              .on_demand = std::move(on_demand),
              .demand = {d}};
      bound_by_price(world, demand, lot);
      if (lot.left > 0) lots.push_back(std::move(lot));
      continue;
    }
    const auto [found, fresh] = seen.try_emplace({demand.need, on_demand}, lots.size());
    if (fresh)
      lots.push_back({.need = demand.need,
                      .item = world.needs[demand.need].resources,
                      .on_demand = std::move(on_demand),
                      .demand = {}});
    Lot& lot = lots[found->second];
    lot.demand.push_back(d);
    lot.left += demand.uncovered;
  }
  return lots;
}

void Packer::gather_kinds() {
  const bool zones_matter = std::any_of(lots_.begin(), lots_.end(), [&](const Lot& lot) {
    return !world_.needs[lot.need].constraints->zone.empty();
  });
  std::map<std::tuple<std::uint32_t, std::uint32_t, model::Market, std::int64_t, std::string,
                      model::Resources, model::GpuGroups>,
           std::size_t>
      seen;
  for (const std::uint32_t i : world_.offers) {
    const Offering& o = world_.snapshot.offerings[i];
    const auto& pool = world_.policy.pools[o.pool];
    if (!may_buy(world_, o)) continue;
    const auto [found, fresh] = seen.try_emplace({o.pool, o.type, o.market, o.price_per_hour.value,
                                                  zones_matter ? o.zone : "", o.resources, o.gpus},
                                                 kinds_.size());
    const auto room = static_cast<std::uint64_t>(
        world_.budget.creates(o, static_cast<std::int64_t>(round_.hosts_most)));
    if (!fresh) {
      Kind& kind = kinds_[found->second];
      kind.offerings.push_back(i);
      kind.room = std::max(kind.room, room);
      continue;
    }
    Kind kind;
    kind.offerings = {i};
    kind.like = &o;
    kind.attempts_max = model::jobs_max_of(pool, world_.policy.types[o.type]);
    kind.price = compared_price(o);
    kind.size = vector_of(o.resources);
    kind.room = room;
    for (std::uint32_t l = 0; l < lots_.size(); ++l)
      if (may_go(world_, lots_[l], i)) kind.lots.push_back(l);
    if (kind.lots.empty())
      seen.erase(found);
    else
      kinds_.push_back(std::move(kind));
  }
}

/// Drops kinds that are neither larger nor cheaper than another kind of their pool and market: the
/// price factor of another market may refuse that one.
void Packer::drop_dominated() {
  order_.clear();
  for (std::uint32_t k = 0; k < kinds_.size(); ++k) {
    const Kind& a = kinds_[k];
    const bool dominated = std::any_of(order_.begin(), order_.end(), [&](std::uint32_t other) {
      const Kind& b = kinds_[other];  // Not dearer: kinds are sorted by price.
      return a.like->pool == b.like->pool && a.like->market == b.like->market &&
             a.price >= b.price && a.like->resources.fits_in(b.like->resources) &&
             has_cards_of(*b.like, *a.like) &&
             std::includes(b.lots.begin(), b.lots.end(), a.lots.begin(), a.lots.end());
    });
    if (!dominated) order_.push_back(k);
  }
  group_families();
}

void Packer::group_families() {
  const auto alike = [&](const Kind& a, const Kind& b) {
    if (a.like->pool != b.like->pool || a.like->market != b.like->market) return false;
    for (std::size_t d = 0; d < kResources; ++d)
      if (std::abs(a.size[d] * b.price - b.size[d] * a.price) > 1e-3 * a.size[d] * b.price)
        return false;
    return true;
  };
  largest_ = {};
  families_.clear();

  for (const std::uint32_t k : order_) {
    for (std::size_t d = 0; d < kResources; ++d)
      largest_[d] = std::max(largest_[d], kinds_[k].size[d]);
    auto found = std::ranges::find_if(
        families_, [&](const auto& one) { return alike(kinds_[one.front()], kinds_[k]); });
    if (found == families_.end()) found = families_.emplace(found);
    found->push_back(k);
    kinds_[k].family = static_cast<std::uint32_t>(found - families_.begin());
  }
  // What offers less of everything for its price than another kind does not lower the bound.
  weighed_.clear();
  const auto offers_less = [&](const Kind& a, const Kind& b) {
    for (std::size_t d = 0; d < kResources; ++d)
      if (a.size[d] * b.price > b.size[d] * a.price) return false;
    return std::ranges::includes(b.lots, a.lots);
  };
  for (auto at = order_.rbegin(); at != order_.rend(); ++at)
    if (std::ranges::none_of(
            weighed_, [&](std::uint32_t other) { return offers_less(kinds_[*at], kinds_[other]); }))
      weighed_.push_back(*at);
}

/// What all lots need together.
ResourceVector Packer::demand() const {
  ResourceVector total{};
  for (std::size_t l = 0; l < lots_.size(); ++l)
    for (std::size_t d = 0; d < kResources; ++d)
      total[d] += shapes_[l].size[d] * static_cast<double>(lots_[l].left);
  return total;
}

/// The lower bound of the total price with these weights; `worths`, if not null, gets each lot's.
double Packer::bound_of(const ResourceVector& weights, std::vector<double>* worths) const {
  std::vector<double> cheapest(lots_.size(), HUGE_VAL);
  for (const std::uint32_t k : weighed_) {
    const double per_weight = kinds_[k].price / std::max(dot(weights, kinds_[k].size), 1e-300);
    for (const std::uint32_t l : kinds_[k].lots) cheapest[l] = std::min(cheapest[l], per_weight);
  }
  double sum = 0;
  for (std::size_t l = 0; l < lots_.size(); ++l) {
    if (cheapest[l] == HUGE_VAL) cheapest[l] = 0;  // No kind may hold it.
    const double worth = cheapest[l] * dot(weights, shapes_[l].size);
    if (worths != nullptr) (*worths)[l] = worth;
    sum += worth * static_cast<double>(lots_[l].left);
  }
  return sum;
}

/// Sets the lower bound. \return the weights that make it high.
ResourceVector Packer::weigh() {
  const ResourceVector total = demand();
  ResourceVector weights{};
  for (std::size_t d = 0; d < kResources; ++d) weights[d] = total[d] > 0 ? 1 / total[d] : 0;
  if (weights == ResourceVector{}) weights[0] = 1;
  double best = bound_of(weights, nullptr);
  for (const double step : {16.0, 4.0, 2.0, 1.4, 1.15, 1.05, 1.02, 1.005})
    for (std::size_t d = 0; d < kResources; ++d)
      for (const double factor : {step, 1 / step}) {
        ResourceVector tried = weights;
        tried[d] *= factor;
        const double bound = weights[d] > 0 ? bound_of(tried, nullptr) : 0;
        if (bound > best) weights = tried, best = bound;
      }
  lower_bound_ = bound_of(weights, nullptr);
  return weights;
}

/// Sets the worth of each lot by these weights, but such that each resource has at least this part
/// of the worth of all.
void Packer::divide_worth(const ResourceVector& weights, double least) {
  const ResourceVector total = demand();
  const double sum = dot(weights, total);
  weights_ = weights;
  for (std::size_t d = 0; d < kResources; ++d)
    if (total[d] > 0) weights_[d] = std::max(weights_[d], least * sum / total[d]);
  (void)bound_of(weights_, &worth_);
  for (double& worth : worth_) worth = std::max(worth, 1e-9);
  for (std::size_t l = 0; l < lots_.size(); ++l) {
    ResourceVector w{};
    for (std::size_t d = 0; d < kResources; ++d) w[d] = weights_[d] * shapes_[l].size[d];
    shapes_[l].length = std::max(std::sqrt(dot(w, w)), 1e-300);
    ResourceVector& direction = shapes_[l].direction;
    for (std::size_t d = 0; d < kResources; ++d)
      direction[d] = total[d] > 0 ? shapes_[l].size[d] / total[d] : 0;
    const double length = std::max(std::sqrt(dot(direction, direction)), 1e-300);
    for (double& one : direction) one /= length;
  }
}

void Packer::bound_kinds() {
  std::vector<double> density(lots_.size());
  for (std::size_t l = 0; l < lots_.size(); ++l)
    if (lots_[l].left > 0)
      density[l] = worth_[l] / std::max(dot(weights_, shapes_[l].size), 1e-300);
  for (const std::uint32_t k : order_) {
    Kind& kind = kinds_[k];
    double most = 1e-300;
    for (const std::uint32_t l : kind.lots) most = std::max(most, density[l]);
    kind.bound = kind.price / std::max(most * dot(weights_, kind.size), 1e-300);
  }
  round_.since_bound = 0;
}

}  // namespace hostler::scheduler

#include "core/scheduler/price_rule.h"

#include <algorithm>
#include <cmath>

#include "core/scheduler/resource_vector.h"

namespace hostler::scheduler {

double compared_price(const Offering& o) {
  if (o.price_per_hour.value > 0) return static_cast<double>(o.price_per_hour.value);
  const auto s = vector_of(o.resources);
  return (1 + s[0] + 8 * s[1] + s[2] / 4 + s[3] / 256 + s[4]) * 1e-6;
}

bool within_cap(const Offering& o, const model::SitePolicy& policy) {
  const model::Micros cap = policy.pools[o.pool].price_cap_per_hour;
  return cap.value <= 0 || o.price_per_hour <= cap;
}

bool may_come_within_cap(const Offering& o, const model::SitePolicy& policy) {
  return within_cap(o, policy) ||
         policy.types[o.type].price_per_hour <= policy.pools[o.pool].price_cap_per_hour;
}

bool may_buy(const World& world, const Offering& o, ComesAs as) {
  return o.shut.empty() && !world.bounds[o.pool].is_held &&
         world.budget.creates(o, 1, nullptr, as) > 0 && within_cap(o, world.policy);
}

bool may_be_spot(const Need& need) { return !need.spot_in_vain; }

Duration patience_with_spot(const Need& need, const model::PoolPolicy& pool) {
  return need.spot_is_short ? pool.spot_shortage_patience : pool.spot_patience;
}

bool may_be_on_demand(const World& world, const Demand& demand, std::uint32_t pool) {
  const Need& need = world.needs[demand.need];
  return need.constraints->market || !need.has_spot || need.spot_at_ceiling ||
         world.snapshot.now - demand.view->oldest >=
             patience_with_spot(need, world.policy.pools[pool]);
}

std::uint64_t sharing(const World& world, const Need& need, const Offering& o,
                      std::uint64_t items) {
  return std::max<std::uint64_t>(1, std::min(items, world.items_per_host(need, o)));
}

bool serves(const World& world, const Demand& demand, std::uint32_t index) {
  const Offering& o = world.snapshot.offerings[index];
  const Need& need = world.needs[demand.need];
  const bool market = o.market == model::Market::kSpot ? may_be_spot(need)
                                                       : may_be_on_demand(world, demand, o.pool);
  return market && need.resources.fits_in(o.resources) && world.meets(need, index) &&
         !world.bounds[o.pool].is_held && within_cap(o, world.policy) &&
         world.affordable(demand, o, 1) > 0 &&
         !is_too_dear(world, need, o, sharing(world, need, o, demand.uncovered));
}

namespace {

/// Other prices are compared with that of the offering: it costs something, and our own hosts have
/// not filled its ceiling or its quota. One without capacity may have some again soon.
bool is_measure(const World& world, const Offering& o) {
  return o.price_per_hour.value > 0 && !o.unavailable && !o.at_quota && world.budget.has_room(o);
}

/// The offerings of the market on which an item fits, within their pools' caps, cheapest first:
/// calls `visit` with each, until it returns false.
template <class Visit>
void each_fit(const World& world, const Need& need, model::Market market, Visit visit) {
  for (const std::uint32_t i : world.offers) {
    const Offering& o = world.snapshot.offerings[i];
    if (o.market != market || world.bounds[o.pool].is_held ||
        world.bounds[o.pool].started.max.value == 0 || !world.meets(need, i) ||
        !need.resources.fits_in(o.resources) || !within_cap(o, world.policy))
      continue;
    if (!visit(o)) return;
  }
}

/// Sets what the need says of on_demand. \return the least that an item costs on an on_demand host
/// that can be bought now; HUGE_VAL if none can, or if there is no spot to compare it with.
double find_on_demand(const World& world, Need& need, bool has_spot) {
  double least = HUGE_VAL;
  model::Micros& cheapest = need.cheapest[0];
  each_fit(world, need, model::Market::kOnDemand, [&](const Offering& o) {
    need.has_on_demand = need.has_on_demand || !o.unavailable;
    if (cheapest.value < 0 && is_measure(world, o)) cheapest = o.price_per_hour;
    if (!has_spot) return cheapest.value < 0;
    const auto price = static_cast<double>(o.price_per_hour.value);
    if (o.shut.empty() && world.budget.has_room(o))
      least = std::min(least, price / static_cast<double>(sharing(world, need, o, need.items)));
    return cheapest.value < 0 || price < least * static_cast<double>(need.items);
  });
  return least;
}

/// Sets what the need says of spot, which an item gets for less on demand.
void find_spot(const World& world, Need& need, double on_demand) {
  bool is_open = false, has_room = false;
  model::Micros& cheapest = need.cheapest[1];
  cheapest = need.cheapest[0];
  each_fit(world, need, model::Market::kSpot, [&](const Offering& o) {
    const auto price = static_cast<double>(o.price_per_hour.value);
    if (price >= on_demand * static_cast<double>(need.items)) return false;
    if (o.unavailable) return true;
    const bool measures = is_measure(world, o);
    if (measures && (cheapest.value < 0 || o.price_per_hour < cheapest))
      cheapest = o.price_per_hour;
    const std::uint64_t items = sharing(world, need, o, need.items);
    if (price >= on_demand * static_cast<double>(items) || is_too_dear(world, need, o, items))
      return true;
    need.has_spot = true;
    const bool may_open = o.shut.empty() || o.awaits_price;
    is_open = is_open || may_open;
    has_room = has_room || (may_open && world.budget.has_room(o));
    return !(has_room && measures);
  });
  need.spot_is_short = need.has_spot && !is_open;
  need.spot_at_ceiling = is_open && !has_room;
}

}  // namespace

void find_cheapest(const World& world, Need& need, bool has_spot) {
  need.cheapest[0] = need.cheapest[1] = {-1};
  const double on_demand = find_on_demand(world, need, has_spot);
  if (has_spot) find_spot(world, need, on_demand);
}

double price_singly(const Need& need, model::Market market, std::uint64_t items) {
  const auto cheapest = need.cheapest[market == model::Market::kSpot].value;
  return cheapest < 0 ? HUGE_VAL : static_cast<double>(cheapest) * static_cast<double>(items);
}

bool is_too_dear(model::Micros price, double other, const model::PoolPolicy& pool) {
  return static_cast<double>(price.value) > other * pool.price_factor_max;
}

bool is_too_dear(const World& world, const Need& need, const Offering& o, std::uint64_t items) {
  return is_too_dear(o.price_per_hour, price_singly(need, o.market, items),
                     world.policy.pools[o.pool]);
}

double cheapest_new_hosts(const World& world, const Need& need, model::Market market,
                          std::uint64_t items) {
  double least = price_singly(need, market, items);
  for (const std::uint32_t i : world.offers) {
    const Offering& o = world.snapshot.offerings[i];
    if (o.market != market || !need.resources.fits_in(o.resources) || !world.meets(need, i) ||
        !may_buy(world, o))
      continue;
    const double hosts =
        std::ceil(static_cast<double>(items) / static_cast<double>(world.items_per_host(need, o)));
    least = std::min(least, static_cast<double>(o.price_per_hour.value) * hosts);
  }
  return least;
}

}  // namespace hostler::scheduler

#include "core/scheduler/price_rule.h"

#include <algorithm>
#include <cmath>

#include "core/scheduler/resource_vector.h"

namespace hostler::scheduler {

double compared_price(const Offering& o) {
  if (o.price_per_hour.value > 0) return static_cast<double>(o.price_per_hour.value);
  const auto s = vector_of(o.resources);
  return (1 + s[0] + 8 * s[1] + s[2] / 4 + s[3] / 256) * 1e-6;
}

bool within_cap(const Offering& o, const model::SitePolicy& policy) {
  const model::Micros cap = policy.pools[o.pool].price_cap_per_hour;
  return cap.value <= 0 || o.price_per_hour <= cap;
}

bool may_come_within_cap(const Offering& o, const model::SitePolicy& policy) {
  return within_cap(o, policy) ||
         policy.types[o.type].price_per_hour <= policy.pools[o.pool].price_cap_per_hour;
}

bool may_buy(const World& world, const Offering& o) {
  return o.shut.empty() && !world.bounds[o.pool].is_held && world.budget.creates(o, 1) > 0 &&
         within_cap(o, world.policy);
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

void find_cheapest(const World& world, Need& need) {
  need.cheapest[0] = need.cheapest[1] = {-1};
  bool has_room = false, is_open = false, is_within_cap = false;
  for (const std::uint32_t i : world.offers) {  // cheapest first
    const Offering& o = world.snapshot.offerings[i];
    const bool is_spot = o.market == model::Market::kSpot;
    auto& cheapest = need.cheapest[is_spot];
    const bool is_known = cheapest.value >= 0 && (!is_spot || has_room);
    if (is_known || world.bounds[o.pool].is_held || world.bounds[o.pool].started.max.value == 0 ||
        !world.meets(need, i) || !need.resources.fits_in(o.resources))
      continue;
    const bool is_cheap = within_cap(o, world.policy);
    if (is_spot) {
      need.has_spot = need.has_spot || !o.unavailable;
      is_within_cap = is_within_cap || is_cheap;
      is_open = is_open || (is_cheap && o.shut.empty());
      has_room = has_room || (is_cheap && o.shut.empty() && world.budget.has_room(o));
    }
    if (is_cheap && !o.unavailable && cheapest.value < 0) cheapest = o.price_per_hour;
  }
  need.spot_is_short = is_within_cap && !is_open;
  need.spot_at_ceiling = is_open && !has_room;
}

double price_singly(const Need& need, model::Market market, std::uint64_t items) {
  const auto cheapest = need.cheapest[market == model::Market::kSpot].value;
  return static_cast<double>(cheapest) * static_cast<double>(items);
}

bool is_too_dear(model::Micros price, double other, const model::PoolPolicy& pool) {
  return static_cast<double>(price.value) > other * pool.price_factor_max;
}

bool is_too_dear(const World& world, const Need& need, const Offering& o, std::uint64_t items) {
  return need.cheapest[o.market == model::Market::kSpot].value >= 0 &&
         is_too_dear(o.price_per_hour, price_singly(need, o.market, items),
                     world.policy.pools[o.pool]);
}

double cheapest_new_hosts(const World& world, const Need& need, model::Market market,
                          std::uint64_t items) {
  if (need.cheapest[market == model::Market::kSpot].value < 0) return HUGE_VAL;
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

#pragma once

#include "core/scheduler/world.h"

/// The price rule: what a host costs a demand, and whether the demand may use it at this price. All
/// steps of a plan use these functions. Prices are in the currency of the site: the dispatcher
/// converts the prices of clouds, and shuts each spot offering whose price cap it cannot convert to
/// the currency of the cloud.
namespace hostler::scheduler {

/// The price by which the packer compares hosts, in millionths per hour, more than 0. Types without
/// a price get one by their size, or the largest would be taken for the smallest job.
[[nodiscard]] double compared_price(const Offering& offering);

/// The offering's present price is within its pool's cap.
[[nodiscard]] bool within_cap(const Offering& offering, const model::SitePolicy& policy);
/// The price cap allows the present price of the offering, or its price on the menu: a price that
/// rose may fall again.
[[nodiscard]] bool may_come_within_cap(const Offering& offering, const model::SitePolicy& policy);

/// A host of the offering can be created now: no gate, no ceiling and no cap forbids it.
[[nodiscard]] bool may_buy(const World& world, const Offering& offering,
                           ComesAs as = ComesAs::kStarted);

/// The need may use spot hosts: no spot request for it stayed unfulfilled for too long.
[[nodiscard]] bool may_be_spot(const Need& need);
/// How long the need waits for spot before it falls back to on_demand hosts of the pool.
[[nodiscard]] Duration patience_with_spot(const Need& need, const model::PoolPolicy& pool);
/// The demand may use on_demand hosts of the pool: its constraints name a market, or no spot would
/// cost it less, or only ceilings of the site keep it from spot, or it has waited for the pool's
/// spot_patience; while gates hold back all spot that could serve, for its spot_shortage_patience.
[[nodiscard]] bool may_be_on_demand(const World& world, const Demand& demand, std::uint32_t pool);

/// How many of these items of the need would share a host of the offering, at least 1.
[[nodiscard]] std::uint64_t sharing(const World& world, const Need& need, const Offering& offering,
                                    std::uint64_t items);
/// The offering serves the demand, by every rule but gates and ceilings.
[[nodiscard]] bool serves(const World& world, const Demand& demand, std::uint32_t offering);

/// Sets Need::cheapest and what the need says of the markets. The members before them, and the
/// World's offers, bounds and budget, are set. `has_spot`: some offer is spot. Spot and on_demand
/// are compared by what an item pays where as many as wait share a host; other work that could
/// share it is not known.
void find_cheapest(const World& world, Need& need, bool has_spot);
/// Need::cheapest for each of `items` of the need; HUGE_VAL: nothing to compare with.
[[nodiscard]] double price_singly(const Need& need, model::Market market, std::uint64_t items);
/// The host's price is more than price_factor_max of the pool times the other price, both in
/// millionths per hour. Doubles hold prices exactly up to 2^53 millionths.
[[nodiscard]] bool is_too_dear(model::Micros price, double other, const model::PoolPolicy& pool);
/// The same, compared with price_singly() of the items of the need that would share the host.
[[nodiscard]] bool is_too_dear(const World& world, const Need& need, const Offering& offering,
                               std::uint64_t items);
/// The least cost per hour for `items` of the need with new hosts of one type that can be created
/// now. If no type can: price_singly(), which is the packer's limit too.
[[nodiscard]] double cheapest_new_hosts(const World& world, const Need& need, model::Market market,
                                        std::uint64_t items);

}  // namespace hostler::scheduler

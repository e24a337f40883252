#include "core/dispatch/state/menu.h"

#include <algorithm>

namespace hostler::dispatch {

Menu::Menu(const model::SitePolicy& policy) : policy_(policy) { rebuild(); }

void Menu::reload() {
  refuses_stop_.clear();
  scratch_.clear();
  rebuild();
}

void Menu::rebuild() {
  offerings_.clear();
  index_.clear();
  for (std::uint32_t p = 0; p < policy_.pools.size(); ++p) {
    const auto& pool = policy_.pools[p];
    const std::set<std::string> its_types(pool.types.begin(), pool.types.end());
    for (const auto& set_name : pool.sets) {
      const auto set = std::ranges::find(policy_.sets, set_name, &model::SetPolicy::name);
      if (set == policy_.sets.end()) continue;
      for (std::uint32_t t = 0; t < policy_.types.size(); ++t) {
        const auto& type = policy_.types[t];
        if (!type.only_in.empty() && type.only_in != set_name) continue;
        if (its_types.contains(type.name))
          add(p, static_cast<std::uint32_t>(set - policy_.sets.begin()), t);
      }
    }
  }
}

void Menu::add(std::uint32_t pool, std::uint32_t set, std::uint32_t t) {
  const auto& type = policy_.types[t];
  scheduler::Offering offering;
  offering.pool = pool;
  offering.set = set;
  offering.type = t;
  offering.market = type.market;
  offering.resources = type.resources;
  const auto offer = [&](const std::string& zone) {
    offering.zone = zone;
    offering.price_per_hour = price_of(set, t, zone, type.market);
    index_.try_emplace({pool, set, t, zone}, static_cast<std::uint32_t>(offerings_.size()));
    offerings_.push_back(offering);
  };
  if (type.zones.empty()) offer("");
  for (const auto& zone : type.zones) offer(zone);
}

std::uint32_t Menu::offering_of(const fleet::Instance& instance) const {
  if (!instance.type) return UINT32_MAX;
  const auto& [pool, set, type] = std::tie(instance.pool, instance.set, *instance.type);
  auto found = index_.find(std::tie(pool, set, type, instance.record.zone));
  if (found != index_.end()) return found->second;
  found = index_.lower_bound(std::tuple(pool, set, type, ""));  // Its zone has left the menu.
  if (found == index_.end()) return UINT32_MAX;
  const auto& [its_pool, its_set, its_type, zone] = found->first;
  return std::tie(its_pool, its_set, its_type) == std::tie(pool, set, type) ? found->second
                                                                            : UINT32_MAX;
}

std::optional<std::uint32_t> Menu::type_index(const std::string& name) const {
  const auto found = std::ranges::find(policy_.types, name, &model::InstanceType::name);
  if (found == policy_.types.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - policy_.types.begin());
}

model::Micros Menu::price_of(std::uint32_t set, std::uint32_t type, const std::string& zone,
                             model::Market market) const {
  const auto& listed = policy_.types[type];
  // Of types that are offered no histories are asked: rows of such a name are of another type.
  if (listed.only_in.empty())
    if (const auto known = prices_.price(policy_.sets[set].name, listed.name, zone, market))
      return *known;
  const auto of_zone = policy_.zone_prices.find({listed.name, zone});
  return of_zone == policy_.zone_prices.end() ? listed.price_per_hour : of_zone->second;
}

std::set<std::uint32_t> Menu::types_of(std::uint32_t set) const {
  std::set<std::uint32_t> types;
  for (const auto& offering : offerings_)
    if (offering.set == set) types.insert(offering.type);
  return types;
}

std::optional<Wall> Menu::newest_price(std::uint32_t set, std::uint32_t type) const {
  return prices_.newest(policy_.sets[set].name, policy_.types[type].name);
}

Menu::PriceNews Menu::take_prices(std::uint32_t set, const std::string& type,
                                  const std::vector<model::ZonePrice>& fetched, Wall now) {
  PriceNews out{prices_.take(policy_.sets[set].name, type, fetched, now)};
  if (out.news.empty()) return out;
  for (auto& offering : offerings_) {
    if (offering.set != set || policy_.types[offering.type].name != type) continue;
    const model::Micros before = std::exchange(
        offering.price_per_hour, price_of(set, offering.type, offering.zone, offering.market));
    out.changed |= before != offering.price_per_hour;
  }
  return out;
}

}  // namespace hostler::dispatch

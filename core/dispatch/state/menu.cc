#include "core/dispatch/state/menu.h"

#include <algorithm>

#include "core/base/units.h"
#include "core/model/create_request.h"
#include "core/pricing/doubt.h"

namespace hostler::dispatch {

namespace {

/// Why jobs get less RAM than the menu says; empty: they do not.
std::string note_of(const model::InstanceType& type, std::int64_t ram, std::int64_t for_jobs) {
  const std::int64_t menu = type.resources.ram;
  if (for_jobs >= menu) return {};
  std::string out = "type " + type.name + " has " + format_size(menu) + " of ram on the menu";
  if (ram < menu) out += ", its hosts report " + format_size(ram);
  if (for_jobs < ram) out += ", " + format_size(ram - for_jobs) + " are reserved";
  return out;
}

}  // namespace

Menu::Menu(const model::SitePolicy& policy) : policy_(policy) { rebuild(); }

std::vector<model::Change> Menu::settle_reports() {
  std::vector<model::Change> out;
  for (auto& gone : ram_.settle(policy_)) out.emplace_back(std::move(gone));
  for (auto& gone : gpus_.settle(policy_)) out.emplace_back(std::move(gone));
  return out;
}

std::vector<model::Change> Menu::reload() {
  refuses_stop_.clear();
  scratch_.clear();
  auto forgotten = settle_reports();
  rebuild();
  return forgotten;
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
  const std::int64_t ram = ram_.expected(policy_.sets[set].name, type);
  offering.resources = type.resources;
  offering.resources.ram = model::ram_for_jobs(ram, type.reserve);
  offering.note = note_of(type, ram, offering.resources.ram);
  auto gpus = gpus_.expected(policy_.sets[set].name, type);
  offering.resources.gpus = gpus.count;
  if (!type.gpu_groups.empty()) offering.gpus = std::move(gpus.groups);
  for (const auto& [zone, subnet] : model::places_of(policy_.pools[pool], type)) {
    offering.zone = zone;
    offering.subnet = subnet;
    offering.price_per_hour = price_of(set, t, zone, type.market);
    index_.try_emplace({pool, set, t, zone}, static_cast<std::uint32_t>(offerings_.size()));
    offerings_.push_back(offering);
  }
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
  const auto& configured = policy_.types[type];
  return clouds_price_of(set, type, zone, market)
      .value_or(configured.price_per_hour + model::volume_price(policy_.sets[set], configured));
}

std::optional<model::Micros> Menu::clouds_price_of(std::uint32_t set, std::uint32_t type,
                                                   const std::string& zone,
                                                   model::Market market) const {
  const auto& listed = policy_.types[type];
  // Of types that are offered no histories are asked: rows of such a name are of another type.
  if (listed.only_in.empty())
    if (const auto known = prices_.price(policy_.sets[set].name, listed.name, zone, market))
      return known;
  const auto of_zone = policy_.zone_prices.find({listed.name, zone});
  if (of_zone != policy_.zone_prices.end()) return of_zone->second;
  return listed.only_in.empty() ? std::nullopt : std::optional(listed.price_per_hour);
}

std::map<std::uint32_t, model::Micros> Menu::least_prices(std::uint32_t pool,
                                                          std::uint32_t type) const {
  std::map<std::uint32_t, model::Micros> out;
  for (std::uint32_t set = 0; set < policy_.sets.size(); ++set)
    for (auto at = index_.lower_bound(std::tuple(pool, set, type, "")); at != index_.end(); ++at) {
      const auto& [its_pool, its_set, its_type, zone] = at->first;
      if (std::tie(its_pool, its_set, its_type) != std::tie(pool, set, type)) break;
      const model::Micros price = offerings_[at->second].price_per_hour;
      const auto [least, fresh] = out.try_emplace(set, price);
      if (!fresh) least->second = std::min(least->second, price);
    }
  return out;
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
    const auto& its_type = policy_.types[offering.type];
    if (offering.set != set || its_type.name != type) continue;
    const model::Micros before = std::exchange(
        offering.price_per_hour, price_of(set, offering.type, offering.zone, offering.market));
    out.changed |= before != offering.price_per_hour;
    if (pricing::becomes_doubted(before, offering.price_per_hour, its_type.price_per_hour))
      out.doubted.push_back(static_cast<std::uint32_t>(&offering - offerings_.data()));
  }
  return out;
}

}  // namespace hostler::dispatch

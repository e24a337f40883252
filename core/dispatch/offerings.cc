#include <algorithm>
#include <tuple>

#include "core/dispatch/dispatcher.h"

/// What the site may buy: its menu in each pool's sets, at the prices of now.
namespace hostler::dispatch {

void Dispatcher::build_offerings() {
  offerings_.clear();
  offering_index_.clear();
  for (std::uint32_t p = 0; p < policy_.pools.size(); ++p) {
    const auto& pool = policy_.pools[p];
    for (const auto& set_name : pool.sets) {
      const auto set = set_index(set_name);
      if (!set) continue;
      for (std::uint32_t t = 0; t < policy_.types.size(); ++t) {
        const auto& type = policy_.types[t];
        if (std::ranges::find(pool.types, type.name) == pool.types.end()) continue;
        scheduler::Offering offering;
        offering.pool = p;
        offering.set = *set;
        offering.type = t;
        offering.market = type.market;
        offering.resources = type.resources;
        const auto offer = [&](const std::string& zone) {
          offering.zone = zone;
          offering.price_per_hour = price_of(*set, t, zone, type.market);
          offering_index_.try_emplace({p, *set, t, zone},
                                      static_cast<std::uint32_t>(offerings_.size()));
          offerings_.push_back(offering);
        };
        if (type.zones.empty()) offer("");
        for (const auto& zone : type.zones) offer(zone);
      }
    }
  }
}

std::uint32_t Dispatcher::offering_of(const fleet::Instance& instance) const {
  if (!instance.type) return UINT32_MAX;
  const auto& [pool, set, type] = std::tie(instance.pool, instance.set, *instance.type);
  auto found = offering_index_.find(std::tie(pool, set, type, instance.record.zone));
  if (found != offering_index_.end()) return found->second;
  // Its zone has left the menu.
  found = offering_index_.lower_bound(std::tuple(pool, set, type, ""));
  if (found == offering_index_.end()) return UINT32_MAX;
  const auto& [its_pool, its_set, its_type, zone] = found->first;
  return std::tie(its_pool, its_set, its_type) == std::tie(pool, set, type) ? found->second
                                                                            : UINT32_MAX;
}

Mono Dispatcher::view_offerings(scheduler::Snapshot& out, Now now) const {
  Mono wake = fleet::kNever;
  out.offerings = offerings_;
  for (auto& offering : out.offerings) {
    const Set& set = sets_[offering.set];
    offering.can_stop = can_stop(offering.set, policy_.types[offering.type].name, offering.market);
    if (!set.open) {
      offering.shut = "the set is not open" + (set.problem.empty() ? "" : ": " + set.problem);
    } else if (set.foreign) {
      offering.shut = set.problem;
    } else if (const auto* gate = gates_.shut(gate_query(offering), now.mono)) {
      offering.shut = gate->record.message.empty() ? "a gate is shut" : gate->record.message;
      if (gate->until > now.mono) wake = std::min(wake, gate->until);
    }
  }
  return wake;
}

}  // namespace hostler::dispatch

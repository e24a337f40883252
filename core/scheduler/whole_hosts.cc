#include "core/scheduler/whole_hosts.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/scheduler/price_rule.h"

namespace hostler::scheduler {

std::vector<std::vector<std::uint32_t>> whole_hosts(const World& world, const Demand& demand) {
  const auto& offerings = world.snapshot.offerings;
  std::vector<std::uint32_t> serving;
  for (const std::uint32_t i : world.offers)
    if (offerings[i].shut.empty() && serves(world, demand, i)) serving.push_back(i);
  // The smallest one comes first among hosts that cost nothing.
  std::ranges::stable_sort(serving, {},
                           [&](std::uint32_t i) { return compared_price(offerings[i]); });
  std::map<std::tuple<std::uint32_t, std::uint32_t, model::Market, std::int64_t>, std::size_t> seen;
  std::vector<std::vector<std::uint32_t>> out;
  for (const std::uint32_t i : serving) {
    const Offering& o = offerings[i];
    const auto [found, fresh] =
        seen.try_emplace({o.pool, o.type, o.market, o.price_per_hour.value}, out.size());
    if (fresh) out.emplace_back();
    out[found->second].push_back(i);
  }
  return out;
}

}  // namespace hostler::scheduler

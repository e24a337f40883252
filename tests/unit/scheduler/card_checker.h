#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {

/// The cards of one item.
struct CardItem {
  std::int32_t count = 0;
  model::GpuWish wish;
};

/// The groups have cards for all items, from the given one on: tries all ways to deal them.
inline bool hold_all(model::GpuGroups& groups, const std::vector<CardItem>& items,
                     std::size_t from = 0) {
  if (from == items.size()) return true;
  const auto& [count, wish] = items[from];
  for (model::GpuGroup& group : groups) {
    if (group.count < count || !wish.meets(group)) continue;
    group.count -= count;
    const bool good = hold_all(groups, items, from + 1);
    group.count += count;
    if (good) return true;
  }
  return false;
}

/// The free cards of a host, whether their kinds are said or not.
inline model::GpuGroups free_cards(const Site& site, const HostView& host) {
  if (!host.cards.empty()) return host.cards;
  const bool is_offered = host.offering < site.snapshot.offerings.size();
  model::GpuGroups groups = host.gpus;
  if (groups.empty() && is_offered) groups = site.snapshot.offerings[host.offering].gpus;
  if (groups.empty()) groups.emplace_back();
  groups.front().count = host.free.gpus;
  return groups;
}

/// Items with cards by host.
inline std::map<std::uint64_t, std::vector<CardItem>> card_items(const Site& site,
                                                                 const std::vector<Place>& places) {
  std::map<std::uint64_t, std::vector<CardItem>> out;
  for (const Place& p : places)
    for (const demand::ClassView& c : site.snapshot.classes)
      if (c.id == p.cls && c.shape.needs.gpus > 0)
        out[p.host.value].insert(out[p.host.value].end(), p.count,
                                 {c.shape.needs.gpus, c.shape.constraints.gpu});
  return out;
}

}  // namespace hostler::scheduler

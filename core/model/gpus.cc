#include "core/model/gpus.h"

#include <algorithm>
#include <tuple>

#include "core/base/assert.h"

namespace hostler::model {

bool fits_kind(std::string_view wished, std::string_view kind) {
  if (wished.empty() || wished == kind) return true;
  return kind.starts_with(wished) && kind[wished.size()] == '-';
}

std::optional<std::size_t> pick_group(const GpuGroups& free, const GpuWish& wish,
                                      std::int32_t count) {
  const auto order = [](const GpuGroup& group) {
    return std::tie(group.count, group.memory, group.kind);
  };
  std::optional<std::size_t> best;
  for (std::size_t g = 0; g < free.size(); ++g)
    if (free[g].count >= count && wish.meets(free[g]) &&
        (!best || order(free[g]) < order(free[*best])))
      best = g;
  return best;
}

std::uint64_t fit_count(const GpuGroups& free, const GpuWish& wish, std::int32_t count) {
  if (count == 0) return INT32_MAX;
  std::uint64_t items = 0;
  for (const GpuGroup& group : free)
    if (wish.meets(group)) items += static_cast<std::uint64_t>(std::max(0, group.count) / count);
  return items;
}

void take_cards(GpuGroups& free, const GpuWish& wish, std::int32_t count, std::uint64_t items) {
  while (count > 0 && items > 0) {
    const auto picked = pick_group(free, wish, count);
    HOSTLER_ASSERT(picked, "there are cards for each item");
    GpuGroup& group = free[*picked];
    // It stays the one with the fewest cards.
    const auto taken =
        std::min<std::uint64_t>(items, static_cast<std::uint64_t>(group.count / count));
    group.count -= static_cast<std::int32_t>(taken) * count;
    items -= taken;
  }
}

bool has_cards(const GpuGroups& groups, const GpuWish& wish, std::int32_t count) {
  if (count == 0) return true;
  return groups.empty() ? wish == GpuWish{} : pick_group(groups, wish, count).has_value();
}

}  // namespace hostler::model

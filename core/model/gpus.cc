#include "core/model/gpus.h"

namespace hostler::model {

bool fits_kind(std::string_view wished, std::string_view kind) {
  if (wished.empty() || wished == kind) return true;
  return kind.starts_with(wished) && kind[wished.size()] == '-';
}

std::optional<std::size_t> pick_group(const GpuGroups& free, const GpuWish& wish,
                                      std::int32_t count) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < free.size(); ++i) {
    if (free[i].count < count || !wish.meets(free[i])) continue;
    if (!best || free[i].count < free[*best].count) best = i;
  }
  return best;
}

}  // namespace hostler::model

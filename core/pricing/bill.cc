#include "core/pricing/bill.h"

#include <algorithm>

namespace hostler::pricing {
namespace {

using model::Micros;
__extension__ using Wide = __int128;

Micros scaled(Micros whole, std::int64_t part, std::int64_t of) {
  if (of <= 0 || part >= of) return whole;
  return {static_cast<std::int64_t>(Wide{whole.value} * std::max<std::int64_t>(part, 0) / of)};
}

}  // namespace

Micros cost_of_stay(const History& history, Micros otherwise, Wall from, Wall to,
                    std::int64_t off_us) {
  if (to <= from) return {};
  const Micros whole = cost(history, from, to).value_or(cost(otherwise, from, to));
  const std::int64_t length = to.us - from.us;
  return scaled(whole, length - std::clamp<std::int64_t>(off_us, 0, length), length);
}

Micros part_of(Micros cost, const model::Resources& used, const model::Resources& total) {
  if (total == model::Resources{}) return cost;
  return std::max({scaled({cost.value}, used.vcpus, std::max(total.vcpus, 1)),
                   scaled({cost.value}, used.gpus, total.gpus > 0 ? total.gpus : 1),
                   scaled({cost.value}, used.ram, std::max<std::int64_t>(total.ram, 1)),
                   scaled({cost.value}, used.scratch, std::max<std::int64_t>(total.scratch, 1))});
}

}  // namespace hostler::pricing

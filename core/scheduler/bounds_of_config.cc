#include "core/scheduler/bounds.h"

namespace hostler::scheduler {

std::array<Bound, 4> bounds_of_config(const model::PoolPolicy& pool) {
  const auto says = [](BoundOf of, std::int64_t number) {
    return Bound{.of = of, .source = kConfigSource, .number = number, .reason = {}, .until = {}};
  };
  return {says(BoundOf::kStartedMin, pool.sizes.min), says(BoundOf::kStartedMax, pool.sizes.max),
          says(BoundOf::kStandby, pool.sizes.standby), says(BoundOf::kStopped, pool.sizes.stopped)};
}

}  // namespace hostler::scheduler

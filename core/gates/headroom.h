#pragma once

#include <cstdint>
#include <optional>

#include "core/model/cloud.h"

namespace hostler::gates {

/// How far the present numbers are below the ceilings of a site, set or pool; nullopt: no ceiling.
/// A price below 0: the ceiling is passed, as the prices of instances have risen.
struct Headroom {
  std::optional<std::int64_t> instances, creates, destroys;
  std::optional<model::Micros> price_per_hour;
};

}  // namespace hostler::gates

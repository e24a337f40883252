#pragma once

#include <cstdint>
#include <optional>

#include "core/model/cloud.h"

namespace hostler::gates {

/// How far the present numbers are below the ceilings of a site, set or pool; nullopt: no ceiling.
struct Headroom {
  std::optional<std::int64_t> instances, creates, destroys;
  std::optional<model::Micros> price_per_hour;
};

}  // namespace hostler::gates

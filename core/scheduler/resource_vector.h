#pragma once

#include <array>
#include <cstddef>

#include "core/model/resources.h"

namespace hostler::scheduler {

inline constexpr std::size_t kResources = 5;
/// vcpus, gpus, GiB of ram, GiB of scratch, slots; or a weight for each.
using ResourceVector = std::array<double, kResources>;

inline ResourceVector vector_of(const model::Resources& r) {
  constexpr double kBytesPerGiB = 1073741824.0;
  return {static_cast<double>(r.vcpus), static_cast<double>(r.gpus),
          static_cast<double>(r.ram) / kBytesPerGiB, static_cast<double>(r.scratch) / kBytesPerGiB,
          static_cast<double>(r.slots)};
}

inline double dot(const ResourceVector& a, const ResourceVector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4];
}

}  // namespace hostler::scheduler

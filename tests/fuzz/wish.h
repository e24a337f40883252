#pragma once

#include "core/model/job.h"

namespace hostler::fuzz {

/// Work with these needs may ask for such gpus.
inline bool is_wish(const model::Resources& needs, const model::GpuWish& gpu) {
  if (gpu == model::GpuWish{}) return true;
  return needs.gpus > 0 && gpu.memory >= 0 && (gpu.kind.empty() || model::is_gpu_kind(gpu.kind));
}

}  // namespace hostler::fuzz

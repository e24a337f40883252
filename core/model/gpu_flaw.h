#pragma once

#include <cstdint>
#include <string>

#include "core/model/gpus.h"

namespace hostler::model {

/// Why nothing can have such groups of `gpus` cards together; for people. Empty: it can. No groups
/// say nothing, so they have no flaw. What is beyond GpuGroups::count and memory is passed as their
/// largest value.
[[nodiscard]] std::string gpu_flaw(const GpuGroups& groups, std::int32_t gpus);

}  // namespace hostler::model

#pragma once

#include <filesystem>

#include "core/base/error.h"
#include "core/simulation/scenario.h"

namespace hostler::simulation {

/// How the cloud of a recording behaved (core/tap): how long it took, what failed, what it asked
/// for. Values that the recording does not have keep their defaults. Blocks on the file; an error
/// names it, and the line.
[[nodiscard]] Result<CloudModel> read_recorded_cloud(const std::filesystem::path& recording);

}  // namespace hostler::simulation

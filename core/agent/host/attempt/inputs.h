#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/job.h"

namespace hostler::agent {

/// True if `path` is relative and has no empty part, no "." and no "..".
bool is_inner_path(const std::string& path);

/// Copies the blobs of `inputs` into the empty `folder` and creates the folders in their paths. All
/// of them will belong to `uid` (0: the caller). Blocks until all is copied. kInvalidArgument: the
/// inputs' paths are wrong; other errors are of the host.
Result<void> place_inputs(const std::vector<model::Input>& inputs, const std::string& folder,
                          std::uint32_t uid);

}  // namespace hostler::agent

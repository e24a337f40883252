#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/job.h"

namespace hostler::agent {

/// Relative, without empty parts, "." and "..".
bool is_inner_path(const std::string& path);

/// Copies the blobs of `inputs` into the new, empty `folder`, with the folders above them; all of
/// it belongs to `uid` (0: the caller). Blocks as long as copying takes.
Result<void> place_inputs(const std::vector<model::Input>& inputs, const std::string& folder,
                          std::uint32_t uid);

}  // namespace hostler::agent

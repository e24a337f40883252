#pragma once

#include <cstddef>
#include <string>

#include "core/base/error.h"
#include "core/cli/commands.h"

namespace hostler::cli {

/// Reads a whole file or pipe; "-" is standard input. kTooLarge above `max` bytes.
Result<std::string> read_argument(const std::string& name, std::size_t max);

/// Builds the JSON of one job from the options. Values are checked later, by api::read_job().
Result<std::string> job_text(const SubmitOptions& options);

}  // namespace hostler::cli

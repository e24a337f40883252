#pragma once

#include <cstddef>
#include <string>

#include "core/base/error.h"
#include "core/cli/commands.h"

namespace hostler::cli {

/// All of a file (a pipe will do), or of standard input for "-".
Result<std::string> read_argument(const std::string& name, std::size_t max);

/// One job's JSON from the command line's options. Words that are no job's are refused by read_job.
Result<std::string> job_text(const SubmitOptions& options);

}  // namespace hostler::cli

#pragma once

#include <optional>

#include "core/base/error.h"
#include "sdk/check/run/test.h"

namespace hostler::check {

/// Reads the command line. Nothing: --help was asked for. Errors are one line for people.
Result<std::optional<Options>> read_options(int argc, char** argv);

/// The text of --help.
const char* help_text();

}  // namespace hostler::check

#pragma once

#include "sdk/hosts/command/options.h"

namespace hostler::machines {

/// The commands that ask a keeper: prints its answer, and returns the exit status. Throws a
/// Failure.
int ask(const Options& options);

}  // namespace hostler::machines

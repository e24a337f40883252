#pragma once

#include "sdk/hosts/command/options.h"

namespace hostler::machines {

/// `run` and `serve`: starts a keeper, and watches it until it ends. If either of the two processes
/// dies, the other one removes what is left. Returns the exit status. Throws a Failure.
int keep(const Options& options);

}  // namespace hostler::machines

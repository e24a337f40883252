#pragma once

namespace hostler::local {

/// Sends `signal` to all descendants of this process.
void signal_descendants(int signal);

/// Kills and reaps all descendants of this process, even if they fork fast. Blocks until there are
/// none. The calling process must be a child subreaper (prctl), so that orphans become its
/// children.
void sweep_descendants();

}  // namespace hostler::local

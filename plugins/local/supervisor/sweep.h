#pragma once

namespace hostler::local {

/// Sends `signal` to every process below this one.
void signal_descendants(int signal);

/// Kills and reaps every process below this one, however fast they fork, and returns when there are
/// none. Complete only for a child subreaper (prctl), to which orphans come back.
void sweep_descendants();

}  // namespace hostler::local

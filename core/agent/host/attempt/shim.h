#pragma once

#include <cstdint>

#include "core/agent/host/attempt/shim_task.h"

/// One attempt's guardian: forked from the server and not executed, so that an end or an upgrade of
/// the server loses no job. It places the inputs, starts the command, keeps its output, enforces
/// its time limit, kills all that is left of it, writes its end to the journal, and is gone.
///
/// SIGTERM asks it to end the job by TERM, and KILL after the grace; SIGUSR1 by KILL.
namespace hostler::agent {

/// What is written to `wake`; fits a pipe's atomic write.
struct WakeNote {
  std::uint64_t job = 0;
  std::uint32_t number = 0;
  std::uint32_t unused = 0;
};

/// In the forked child: never returns. Closes every descriptor that it does not need, the server's
/// lock only after its own is held, so that who gets the server's lock finds all shims' locks.
[[noreturn]] void run_shim(const ShimTask& task);

}  // namespace hostler::agent

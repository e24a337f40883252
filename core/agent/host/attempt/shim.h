#pragma once

#include <cstdint>

#include "core/agent/host/attempt/shim_task.h"

/// The shim is the process that runs one attempt. It is forked from the server and executes no
/// other program, so that jobs survive the end and the upgrade of the server. It places the inputs,
/// starts the command, keeps the output, enforces the time limit, kills the processes that the job
/// leaves, writes the End to the journal, and exits.
///
/// After SIGTERM it ends the job with TERM, then KILL after the grace period; after SIGUSR1 with
/// KILL. After SIGURG it reads the notice file, and runs the interruption command beside the job.
namespace hostler::agent {

/// The message that a shim writes to the named pipe `wake`. Small enough to be written atomically.
struct WakeNote {
  std::uint64_t job = 0;
  std::uint32_t number = 0;
  std::uint32_t unused = 0;
};

/// Call it in the forked child; it never returns. It closes all descriptors that it does not need.
/// server.lock is among these, and is closed only after the shim holds its own lock: so whoever
/// acquires server.lock finds the lock of every living shim.
[[noreturn]] void run_shim(const ShimTask& task);

}  // namespace hostler::agent

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/agent/host/system/os.h"
#include "core/agent/protocol.h"

/// One attempt's guardian: forked from the server and not executed, so that an end or an upgrade of
/// the server loses no job. It places the inputs, starts the command, keeps its output, enforces
/// its time limit, kills all that is left of it, writes its end to the journal, and is gone.
///
/// SIGTERM asks it to end the job by TERM, and KILL after the grace; SIGUSR1 by KILL.
namespace hostler::agent {

struct ShimTask {
  const Start& start;
  std::uint32_t slot = 0;
  std::uint32_t uid = 0;             ///< Of the attempt's own; 0: as the agent.
  bool folder_is_ready = false;      ///< The slot's working folder need not be made.
  std::vector<std::string> cgroups;  ///< Of the slot; empty: no limits.
  std::string state_folder;          ///< Absolute.
  std::string marker;                ///< NAME=value for the environment; see kill_strays().
  std::int64_t started_us = 0;
  int journal = -1;  ///< The End goes here.
  int wake = -1;     ///< A named pipe: an attempt's key here says that it has new output.
  int locks = -1;    ///< Open file whose byte `sequence` is locked while the shim lives.
};

/// What is written to `wake`; fits a pipe's atomic write.
struct WakeNote {
  std::uint64_t job = 0;
  std::uint32_t number = 0;
  std::uint32_t unused = 0;
};

/// In the forked child: never returns. Closes every descriptor that it does not need, the server's
/// lock only after its own is held, so that who gets the server's lock finds all shims' locks.
[[noreturn]] void run_shim(const ShimTask& task);

/// The process that holds byte `sequence`, or 0: the shim of that number lives no more.
pid_t shim_pid(int locks, std::uint64_t sequence);

/// "out/42.1.sh"
std::string script_path(model::AttemptId attempt);

}  // namespace hostler::agent

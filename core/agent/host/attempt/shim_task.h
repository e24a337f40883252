#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/agent/protocol.h"

namespace hostler::agent {

/// The arguments of a shim.
struct ShimTask {
  const Start& start;
  std::uint32_t slot = 0;
  std::uint32_t uid = 0;             ///< The attempt's own uid; 0: run as the agent's user.
  bool folder_is_ready = false;      ///< The slot's working folder exists already.
  std::vector<std::string> cgroups;  ///< Folders of the slot's cgroups, that it enters.
  bool has_limits = false;           ///< Those limit it; without, they only tell whose it is.
  std::string state_folder;          ///< Absolute path.
  std::string marker;                ///< Variable NAME=value for the job; see kill_strays().
  std::int64_t started_us = 0;       ///< By the wall clock; the start that the agent reports.
  std::int64_t boottime_us = 0;      ///< The same moment; a busy host runs the shim much later.
  int journal = -1;                  ///< File to append the End to.
  int wake = -1;                     ///< Named pipe for WakeNote: the attempt has new output.
  int locks = -1;                    ///< shims.lock; see shim_lock.h.
};

}  // namespace hostler::agent

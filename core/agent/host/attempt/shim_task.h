#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/agent/protocol.h"

namespace hostler::agent {

/// What a shim is given when it is forked.
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

}  // namespace hostler::agent

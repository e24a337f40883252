#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/plugin_host/driver_set.h"
#include "core/tap/reader.h"

namespace hostler::tap {

struct ReplayOptions {
  std::string config_json = "{}", credentials_json = {};  ///< The recording has neither.
  std::uint32_t creates_max = 10;                         ///< Machines may cost money.
  Duration timeout = std::chrono::minutes(2);             ///< Of each call.
  std::function<bool()> stop = [] { return false; };      ///< Asked before each call.
};

struct ReplayReport {
  Summary recording;
  std::uint64_t made = 0;     ///< Calls.
  std::uint64_t skipped = 0;  ///< Calls that need what only the recorded site had.
  bool stopped = false;
  std::vector<std::string> differences;  ///< A line each, 1,000 at most.
  std::vector<std::string> left;         ///< Ids of instances that could not be destroyed.
};

/// Makes the recorded calls against this set, in their order and without the time between them, and
/// compares what comes of each. Instances get new keys and the set `hostler-replay`; all of them
/// are destroyed at the end, also after an error and when stopped. Blocks until all is done.
Result<ReplayReport> replay(const std::filesystem::path& recording, plugin_host::DriverSet& set,
                            const ReplayOptions& options);

}  // namespace hostler::tap

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/driver_set.h"

namespace hostler::plugin_host {

struct InProcessOptions {
  Duration grace = std::chrono::seconds(10);  ///< Past a call's deadline, before it is given up on.
  std::size_t threads_max = 64;     ///< Blocking calls at once, where the driver allows more.
  std::size_t queue_max = 100'000;  ///< Calls that wait for a thread; more are refused.
};

/// A set whose driver runs in this process, on threads of the set (`isolation: in-process`).
/// Of the calls that the driver allows at once, one is kept for destroy and list; where it allows
/// only one, these two go first.
std::unique_ptr<DriverSet> make_in_process_set(std::shared_ptr<const DriverLibrary> library,
                                               InProcessOptions options = {});

}  // namespace hostler::plugin_host

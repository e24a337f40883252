#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/driver_set.h"

namespace hostler::plugin_host {

struct InProcessOptions {
  Duration grace = std::chrono::seconds(10);     ///< From a call's deadline until it is abandoned.
  Duration close_max = std::chrono::seconds(5);  ///< For set_close (R25).
  std::size_t threads_max = 64;     ///< Upper limit of blocking calls at once, for any driver.
  std::size_t queue_max = 100'000;  ///< Calls that wait for a slot; more are refused.
  std::string set = {};             ///< Its name, for the log.
};

/// A set whose driver runs in this process, on threads of the set: for the kit.
/// One of the calls that the driver allows at once is reserved for destroy and list; if it allows
/// only one, destroy and list go before other calls.
std::unique_ptr<DriverSet> make_in_process_set(std::shared_ptr<const DriverLibrary> library,
                                               InProcessOptions options = {});

}  // namespace hostler::plugin_host

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "core/driver_host/parent/process_cgroups.h"
#include "core/driver_host/wire/child_arguments.h"
#include "core/plugin_host/driver_set.h"
#include "core/plugin_host/library_file.h"

namespace hostler::driver_host {

struct ProcessOptions {
  std::string program = {};       ///< The path of hostler-driver-host.
  std::string set = {};           ///< Its name, for the log.
  model::DriverFile driver = {};  ///< For reports of crashes.
  SandboxOptions sandbox = {};
  std::shared_ptr<ProcessCgroups> cgroups = {};  ///< Null: the processes limit themselves.
  Duration hang = std::chrono::seconds(2);       ///< From a call's cancel until it hangs (R31).
  Duration grace = std::chrono::seconds(10);     ///< From a call's cancel until it is abandoned.
  std::size_t queue_max = 100'000;               ///< Calls that wait for a slot; more are refused.
};

/// A set whose driver runs in a process of its own. What the driver does
/// there ends that process at most: its calls end with an error, with outcome_unknown if they may
/// have changed the cloud, and a new process is started.
///
/// `driver`: its name, as in its manifest. `library`: its library, opened and checked.
std::unique_ptr<plugin_host::DriverSet> make_process_set(const std::string& driver,
                                                         plugin_host::LibraryFile library,
                                                         ProcessOptions options);

}  // namespace hostler::driver_host

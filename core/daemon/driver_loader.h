#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/driver_host/parent/process_cgroups.h"
#include "core/model/cloud.h"
#include "core/model/sandbox.h"
#include "core/plugin_host/discovery.h"
#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/driver_set.h"

namespace hostler::daemon {

/// One instance set of the configuration.
struct SetSource {
  std::string name, driver;
  std::string config_json = "{}";
  std::string credentials_json;  ///< Secret.
  /// It prints the credentials, and Clouds::renew_credentials() gets them. Empty: no command does.
  std::vector<std::string> credentials_command = {};
  model::Tags tags;
  model::AddressChoice address = model::AddressChoice::kAny;
  std::optional<model::Sandbox> sandbox = {};  ///< Nothing: the default of the driver.
  std::vector<std::string> readable = {};      ///< For the driver, beside the usual files.
  std::filesystem::path record = {};  ///< Its calls are recorded in this file; empty: they are not.
  std::uint64_t record_max = 0;       ///< Bytes of the file.
  friend bool operator==(const SetSource&, const SetSource&) = default;
};

/// Where drivers are looked for, and which are allowed.
struct DriverSource {
  std::vector<std::filesystem::path> folders;  ///< In the order of the search.
  plugin_host::DriverRules rules;
  std::string host_program;                            ///< hostler-driver-host.
  model::Sandbox sandbox_min = model::Sandbox::kNone;  ///< A set with less is closed.
  std::shared_ptr<driver_host::ProcessCgroups> cgroups = {};
};

/// The files of a driver, checked.
struct DriverFiles {
  plugin_host::Manifest manifest;
  plugin_host::LibraryFile library;
  std::string identity;  ///< Equal for the same manifest, files and rule for other files.
};

/// A driver of a set, and what it was made from.
struct LoadedDriver {
  SetSource source;
  std::string identity;  ///< Of its files. Empty: it could not be loaded, and refuses all calls.
  model::DriverFile file = {};  ///< Its crashes are counted as those of this file.
  std::unique_ptr<plugin_host::DriverSet> driver;
};

/// Finds the driver of a set and checks its files. Runs no code of it. Blocks on files.
Result<DriverFiles> find_driver(const plugin_host::Discovery& drivers,
                                const plugin_host::DriverRules& rules, const SetSource& source);
/// Makes the set, which is not open yet. Runs no code of the driver.
Result<LoadedDriver> load_driver(DriverFiles files, const DriverSource& drivers,
                                 const SetSource& source);
/// In place of a driver that cannot be loaded: refuses all calls with `why`.
LoadedDriver make_closed_driver(const SetSource& source, std::string why);

}  // namespace hostler::daemon

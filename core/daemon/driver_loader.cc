#include "core/daemon/driver_loader.h"

#include <utility>

#include "core/driver_host/parent/process_set.h"
#include "core/plugin_host/closed_set.h"
#include "core/plugin_host/sandbox.h"

namespace hostler::daemon {

Result<DriverFiles> find_driver(const plugin_host::Discovery& drivers,
                                const plugin_host::DriverRules& rules, const SetSource& source) {
  auto manifest = HOSTLER_TRY(drivers.find(source.driver));
  auto library = HOSTLER_TRY(plugin_host::check_library(manifest, rules));
  std::string identity = plugin_host::to_json(manifest);  // With the digests of its files.
  if (library.is_listed_only) identity += "runs no other files";
  return DriverFiles{std::move(manifest), std::move(library), std::move(identity)};
}

Result<LoadedDriver> load_driver(DriverFiles files, const DriverSource& drivers,
                                 const SetSource& source) {
  const auto& manifest = files.manifest;
  const auto level =
      HOSTLER_TRY(plugin_host::sandbox_of(manifest, source.sandbox, drivers.sandbox_min));
  model::DriverFile file{manifest.name, manifest.version,
                         plugin_host::identity_of(files.library.loadable_name())};
  driver_host::ProcessOptions options;
  options.program = drivers.host_program;
  options.set = source.name;
  options.driver = file;
  options.cgroups = drivers.cgroups;
  options.sandbox = {.level = level, .min = drivers.sandbox_min, .readable = source.readable};
  return LoadedDriver{.source = source,
                      .identity = std::move(files.identity),
                      .file = std::move(file),
                      .driver = driver_host::make_process_set(
                          manifest.name, std::move(files.library), std::move(options))};
}

LoadedDriver make_closed_driver(const SetSource& source, std::string why) {
  return {.source = source, .identity = {}, .driver = plugin_host::make_closed_set(std::move(why))};
}

}  // namespace hostler::daemon

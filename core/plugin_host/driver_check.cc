// What is checked of a driver's library before it is loaded. hostlerd has done it for the process
// of a driver, so that this needs neither the checks nor what they are made of.
#include <utility>

#include "core/log/log.h"
#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/host_table.h"

namespace hostler::plugin_host {
namespace {

void write_lines_to_log() {
  set_line_sink([](log::Level level, const std::string& area, const std::string& line) {
    log::write(level, area, line);
  });
}

}  // namespace

Result<LibraryFile> check_library(const Manifest& manifest, const DriverRules& rules) {
  if (manifest.abi_major != HOSTLER_ABI_MAJOR) {
    return fail(Errc::kInvalidArgument,
                manifest.file.string() + ": driver '" + manifest.name + "' speaks ABI major " +
                    std::to_string(manifest.abi_major) + ", this hostler speaks " +
                    std::to_string(HOSTLER_ABI_MAJOR));
  }
  if (manifest.abi_draft != HOSTLER_ABI_DRAFT) {
    return fail(Errc::kInvalidArgument,
                manifest.file.string() + ": " + other_draft(manifest.name, manifest.abi_draft));
  }
  auto file = HOSTLER_TRY(open_library(manifest.resolved(), rules.state_dir));
  const auto path = file.path;
  const auto sha256 = HOSTLER_TRY(sha256_of(file));
  if (sha256 != manifest.sha256) {
    return fail(Errc::kForbidden, "driver library " + path.string() + " is not the one that " +
                                      manifest.file.string() + " describes: its sha256 is " +
                                      sha256 + ", not " + manifest.sha256 +
                                      "; write the manifest again with 'hostler driver manifest'");
  }
  if (const auto pinned = rules.trusted.sha256.find(manifest.name);
      pinned != rules.trusted.sha256.end() && pinned->second != sha256) {
    return fail(Errc::kForbidden, "driver library " + path.string() + " has the sha256 " + sha256 +
                                      "; driver_sha256 of the configuration allows only " +
                                      pinned->second);
  }
  HOSTLER_TRY(check_elf(file));
  return file;
}

Result<std::shared_ptr<const DriverLibrary>> DriverLibrary::load(const Manifest& manifest,
                                                                 const DriverRules& rules) {
  auto file = HOSTLER_TRY(check_library(manifest, rules));
  write_lines_to_log();
  auto driver = HOSTLER_TRY(load_open(std::move(file), manifest.sha256));
  if (driver->name() != manifest.name) {
    return fail(Errc::kInvalidArgument, manifest.file.string() + " names the driver '" +
                                            manifest.name + "', its library '" + driver->name() +
                                            "'");
  }
  return driver;
}

Result<std::shared_ptr<const DriverLibrary>> DriverLibrary::load_unpinned(
    const std::filesystem::path& library) {
  auto file = HOSTLER_TRY(open_untrusted_library(library));
  const auto sha256 = HOSTLER_TRY(sha256_of(file));
  HOSTLER_TRY(check_elf(file));
  write_lines_to_log();
  return load_open(std::move(file), sha256);
}

}  // namespace hostler::plugin_host

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

Result<void> compare_digest(const Manifest& manifest, const LibraryFile& file,
                            const std::string& named) {
  const auto sha256 = HOSTLER_TRY(sha256_of(file.fd, file.path));
  if (sha256 == named) return {};
  return fail(Errc::kForbidden, file.path.string() + " is not the file that " +
                                    manifest.file.string() + " describes: its sha256 is " + sha256 +
                                    ", not " + named +
                                    "; write the manifest again with 'hostler driver manifest'");
}

/// Where others may not add a file, a library must not look for others in folders of its own.
Result<void> check_search_path(const std::filesystem::path& path, const UniqueFd& file) {
  const auto has = has_search_path(file);
  if (!has) return fail(Errc::kForbidden, path.string() + ": " + has.error().message);
  if (!*has) return {};
  return fail(
      Errc::kForbidden,
      path.string() +
          " says itself where its libraries are (RPATH, RUNPATH, or a path), which driver_trust "
          "of the configuration does not allow: link it without them, and name its "
          "libraries with 'hostler driver manifest --file'");
}

Result<void> check_pin(const Manifest& manifest, const DriverRules& rules) {
  const auto pinned = rules.trusted.sha256.find(manifest.name);
  if (pinned == rules.trusted.sha256.end() || pinned->second == manifest.pinned_by()) return {};
  return fail(Errc::kForbidden,
              manifest.file.string() + ": driver_sha256 of the configuration allows only " +
                  pinned->second + ", the digest of the " +
                  (manifest.files.empty() ? "library" : "manifest, which has files of its own,") +
                  " is " + manifest.pinned_by());
}

}  // namespace

Result<LibraryFile> open_described(
    const Manifest& manifest,
    const std::function<Result<LibraryFile>(const std::filesystem::path&)>& open) {
  LibraryFile out = HOSTLER_TRY(open(manifest.resolved()));
  HOSTLER_TRY(compare_digest(manifest, out, manifest.sha256));
  for (const auto& [name, sha256] : manifest.files) {
    LibraryFile file = HOSTLER_TRY(open(out.path.parent_path() / name));
    HOSTLER_TRY(compare_digest(manifest, file, sha256));
    out.own_files.push_back({name, std::move(file.fd)});
  }
  return out;
}

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
  auto file = HOSTLER_TRY(open_described(manifest, [&](const std::filesystem::path& path) {
    return open_library(path, rules.state_dir);
  }));
  HOSTLER_TRY(check_pin(manifest, rules));
  HOSTLER_TRY(check_elf(file));
  file.is_listed_only = rules.trusted.trust != model::DriverTrust::kLocal;
  if (!file.is_listed_only) return file;
  HOSTLER_TRY(check_search_path(file.path, file.fd));
  for (const OwnFile& own : file.own_files)
    HOSTLER_TRY(check_search_path(file.path.parent_path() / own.name, own.fd));
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
  const auto sha256 = HOSTLER_TRY(sha256_of(file.fd, library));
  HOSTLER_TRY(check_elf(file));
  write_lines_to_log();
  return load_open(std::move(file), sha256);
}

}  // namespace hostler::plugin_host

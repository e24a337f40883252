#include "core/plugin_host/driver_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <cstring>
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/text.h"
#include "core/plugin_host/abi_values.h"
#include "core/plugin_host/host_table.h"
#include "core/plugin_host/library_file.h"

namespace hostler::plugin_host {
namespace {

/// What is loaded, for as long as the process lives: never destroyed.
struct Loaded {
  struct Entry {
    std::shared_ptr<const DriverLibrary> driver;
    boost::dll::shared_library library;
  };
  Mutex mutex;
  /// Files that the loader knows by the name of their descriptor: were one closed, the next library
  /// to get its number would be taken for it (R50). Those of refused drivers too.
  std::vector<LibraryFile> files HOSTLER_GUARDED_BY(mutex);
  std::map<std::string, Entry> by_sha256 HOSTLER_GUARDED_BY(mutex);
};
Loaded& loaded() {
  static auto* const all = new Loaded;
  return *all;
}

Error wrong(const std::filesystem::path& path, const std::string& what) {
  return {Errc::kInvalidArgument, "driver library " + path.string() + ": " + what};
}

std::string other_draft(const std::string& name, std::uint32_t draft) {
  return "driver '" + name + "' is built for draft " + std::to_string(draft) +
         " of the driver ABI, this hostler speaks draft " + std::to_string(HOSTLER_ABI_DRAFT) +
         ": build the driver with the SDK of this hostler";
}

std::string text(const char* s) { return s == nullptr ? std::string() : printable(s); }

/// The table, copied to the size that this host knows. Its first 16 bytes are the same in every
/// draft; the rest is read only if the draft is ours.
Result<hostler_driver> check_table(const std::filesystem::path& path,
                                   const hostler_driver* theirs) {
  if (theirs == nullptr) {
    return tl::unexpected(wrong(path, HOSTLER_DRIVER_ENTRY
                                          " returned NULL: the driver refuses this hostler (ABI " +
                                          std::to_string(HOSTLER_ABI_MAJOR) + ")"));
  }
  if (theirs->abi_major != HOSTLER_ABI_MAJOR) {
    return tl::unexpected(wrong(path, "speaks ABI major " + std::to_string(theirs->abi_major) +
                                          ", this hostler " + std::to_string(HOSTLER_ABI_MAJOR)));
  }
  if (theirs->abi_draft != HOSTLER_ABI_DRAFT) {
    return tl::unexpected(wrong(path, other_draft(path.stem().stem(), theirs->abi_draft)));
  }
  hostler_driver table;
  if (const auto rule = copy_growable(theirs, table); !rule.empty()) {
    return tl::unexpected(wrong(path, "the driver's table: " + rule));
  }
  if (table.min_host_minor > HOSTLER_ABI_MINOR) {
    return tl::unexpected(wrong(path, "needs ABI 1." + std::to_string(table.min_host_minor) +
                                          ", this hostler speaks 1." +
                                          std::to_string(HOSTLER_ABI_MINOR)));
  }
  if (!is_name(text(table.name))) {
    return tl::unexpected(wrong(
        path, "the driver's name '" + text(table.name) + "' is not of the form [a-z0-9_-]{1,63}"));
  }
  if (table.set_open == nullptr || table.set_close == nullptr || table.set_info == nullptr ||
      table.create == nullptr || table.list == nullptr || table.destroy == nullptr ||
      table.set_tags == nullptr || table.get_extension == nullptr) {
    return tl::unexpected(wrong(
        path, "driver '" + text(table.name) + "' lacks a function that every driver has (R13)"));
  }
  table.max_concurrency = std::clamp<std::uint32_t>(table.max_concurrency, 1, 1024);
  return table;
}

/// dlopen of the checked file itself. Boost.DLL throws, which alone carries the loader's own words.
Result<Loaded::Entry> load_file(LibraryFile file, Loaded& all) HOSTLER_REQUIRES(all.mutex) {
  using boost::dll::load_mode::type;
  constexpr auto kMode = boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local |
                         static_cast<type>(RTLD_NODELETE);
  const auto path = file.path;
  try {
    boost::dll::shared_library library(boost::dll::fs::path(file.loadable_name()), kMode);
    all.files.push_back(std::move(file));
    const auto entry =
        library.get<const hostler_driver*(const hostler_host*)>(HOSTLER_DRIVER_ENTRY);
    const auto table = HOSTLER_TRY(check_table(path, entry(&host_table())));
    auto driver = std::make_shared<const DriverLibrary>(path, table);
    return Loaded::Entry{std::move(driver), std::move(library)};
  } catch (const std::exception& e) {
    return tl::unexpected(wrong(path, e.what()));
  }
}

Result<std::shared_ptr<const DriverLibrary>> load_checked(LibraryFile file,
                                                          const std::string& sha256) {
  auto& all = loaded();
  const MutexLock lock(all.mutex);  // loading at once is not safe everywhere
  if (const auto found = all.by_sha256.find(sha256); found != all.by_sha256.end()) {
    return found->second.driver;
  }
  auto entry = HOSTLER_TRY(load_file(std::move(file), all));
  return all.by_sha256.emplace(sha256, std::move(entry)).first->second.driver;
}

}  // namespace

Result<LibraryFile> check_library(const Manifest& manifest) {
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
  auto file = HOSTLER_TRY(open_library(manifest.resolved()));
  const auto path = file.path;
  const auto sha256 = HOSTLER_TRY(sha256_of(file));
  if (sha256 != manifest.sha256) {
    return fail(Errc::kForbidden, "driver library " + path.string() + " is not the one that " +
                                      manifest.file.string() + " describes: its sha256 is " +
                                      sha256 + ", not " + manifest.sha256 +
                                      "; make the manifest anew with 'hostler driver manifest'");
  }
  HOSTLER_TRY(check_elf(file));
  return file;
}

Result<std::shared_ptr<const DriverLibrary>> DriverLibrary::load(const Manifest& manifest) {
  auto file = HOSTLER_TRY(check_library(manifest));
  auto driver = HOSTLER_TRY(load_checked(std::move(file), manifest.sha256));
  if (driver->name() != manifest.name) {
    return fail(Errc::kInvalidArgument, manifest.file.string() + " names the driver '" +
                                            manifest.name + "', its library '" + driver->name() +
                                            "'");
  }
  return driver;
}

Result<std::shared_ptr<const DriverLibrary>> DriverLibrary::load_unpinned(
    const std::filesystem::path& library) {
  auto file = HOSTLER_TRY(open_library(library));
  const auto sha256 = HOSTLER_TRY(sha256_of(file));
  HOSTLER_TRY(check_elf(file));
  return load_checked(std::move(file), sha256);
}

DriverLibrary::DriverLibrary(std::filesystem::path path, const hostler_driver& table)
    : path_(std::move(path)),
      table_(table),
      name_(table.name),
      turnstile_(std::make_unique<Turnstile>()) {}

}  // namespace hostler::plugin_host

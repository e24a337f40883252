#include "core/plugin_host/driver_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
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

/// All loaded libraries. Never destroyed: drivers may run until the process ends.
struct Loaded {
  struct Entry {
    std::shared_ptr<const DriverLibrary> driver;
    boost::dll::shared_library library;
  };
  Mutex mutex;
  /// The loader identifies these files by the numbers of their descriptors, so they stay open, also
  /// those of refused drivers: a library that got the number of a closed one would be mistaken for
  /// it (R50).
  std::vector<LibraryFile> files HOSTLER_GUARDED_BY(mutex);
  std::map<std::string, Entry> by_identity HOSTLER_GUARDED_BY(mutex);
};
Loaded& loaded() {
  static auto* const all = new Loaded;
  return *all;
}

Error refused(const std::filesystem::path& path, const std::string& what) {
  return {Errc::kInvalidArgument, "driver library " + path.string() + ": " + what};
}

std::string text(const char* s) { return s == nullptr ? std::string() : printable(s); }

/// Returns a copy of a driver's table after checking it. The first 16 bytes have the same meaning
/// in every draft; the others are read only if driver and host have the same draft.
Result<hostler_driver> check_table(const std::filesystem::path& path,
                                   const hostler_driver* theirs) {
  if (theirs == nullptr) {
    return tl::unexpected(
        refused(path, HOSTLER_DRIVER_ENTRY " returned NULL: the driver refuses this hostler (ABI " +
                          std::to_string(HOSTLER_ABI_MAJOR) + ")"));
  }
  if (theirs->abi_major != HOSTLER_ABI_MAJOR) {
    return tl::unexpected(refused(path, "speaks ABI major " + std::to_string(theirs->abi_major) +
                                            ", this hostler " + std::to_string(HOSTLER_ABI_MAJOR)));
  }
  if (theirs->abi_draft != HOSTLER_ABI_DRAFT) {
    return tl::unexpected(refused(path, other_draft(path.stem().stem(), theirs->abi_draft)));
  }
  hostler_driver table;
  if (const auto rule = copy_growable(theirs, table); !rule.empty()) {
    return tl::unexpected(refused(path, "the driver's table: " + rule));
  }
  if (table.min_host_minor > HOSTLER_ABI_MINOR) {
    return tl::unexpected(refused(path, "needs ABI 1." + std::to_string(table.min_host_minor) +
                                            ", this hostler speaks 1." +
                                            std::to_string(HOSTLER_ABI_MINOR)));
  }
  if (!is_name(text(table.name))) {
    return tl::unexpected(refused(
        path, "the driver's name '" + text(table.name) + "' is not of the form [a-z0-9_-]{1,63}"));
  }
  if (table.set_open == nullptr || table.set_close == nullptr || table.set_info == nullptr ||
      table.create == nullptr || table.list == nullptr || table.destroy == nullptr ||
      table.set_tags == nullptr || table.get_extension == nullptr) {
    return tl::unexpected(refused(
        path,
        "driver '" + text(table.name) + "' lacks a function that every driver must have (R13)"));
  }
  table.max_concurrency = std::clamp<std::uint32_t>(table.max_concurrency, 1, 1024);
  return table;
}

std::atomic<bool> in_entry_function{false};

const hostler_driver* call_entry(hostler_driver_entry_1_fn entry) {
  struct Running {
    Running() { in_entry_function = true; }
    ~Running() { in_entry_function = false; }
  } const running;
  return entry(&host_table());
}

/// Loads the file that was checked. Uses the functions of Boost.DLL that throw: only their
/// exceptions carry the message of the system's loader.
Result<Loaded::Entry> load_file(LibraryFile file, Loaded& all) HOSTLER_REQUIRES(all.mutex) {
  using boost::dll::load_mode::type;
  constexpr auto kMode = boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local |
                         static_cast<type>(RTLD_NODELETE);
  const auto path = file.path;
  const std::string area = log_area(path.stem().stem(), "");
  const LogAs as(area);
  try {
    boost::dll::shared_library library(boost::dll::fs::path(file.loadable_name()), kMode);
    all.files.push_back(std::move(file));
    const hostler_driver_entry_1_fn entry =
        &library.get<const hostler_driver*(const hostler_host*)>(HOSTLER_DRIVER_ENTRY);
    const auto table = HOSTLER_TRY(check_table(path, call_entry(entry)));
    auto driver = std::make_shared<const DriverLibrary>(path, table, entry);
    return Loaded::Entry{std::move(driver), std::move(library)};
  } catch (const std::exception& e) {
    return tl::unexpected(refused(path, e.what()));
  } catch (...) {
    return tl::unexpected(refused(path, "R45: an exception left " HOSTLER_DRIVER_ENTRY));
  }
}

}  // namespace

bool is_in_entry_function() { return in_entry_function; }

std::string other_draft(const std::string& name, std::uint32_t draft) {
  return "driver '" + name + "' is built for draft " + std::to_string(draft) +
         " of the driver ABI, this hostler speaks draft " + std::to_string(HOSTLER_ABI_DRAFT) +
         ": build the driver with this hostler's SDK";
}

Result<std::shared_ptr<const DriverLibrary>> DriverLibrary::load_open(LibraryFile file,
                                                                      const std::string& identity) {
  auto& all = loaded();
  const MutexLock lock(all.mutex);  // not every library can be loaded by two threads at once
  if (const auto found = all.by_identity.find(identity); found != all.by_identity.end()) {
    return found->second.driver;
  }
  auto entry = HOSTLER_TRY(load_file(std::move(file), all));
  return all.by_identity.emplace(identity, std::move(entry)).first->second.driver;
}

DriverLibrary::DriverLibrary(std::filesystem::path path, const hostler_driver& table,
                             hostler_driver_entry_1_fn own_entry)
    : path_(std::move(path)),
      table_(table),
      name_(table.name),
      entry_(own_entry),
      serial_gate_(std::make_unique<SerialGate>()) {}

}  // namespace hostler::plugin_host

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/plugin_host/manifest.h"

namespace hostler::plugin_host {

/// One path that discovery has tried.
struct TriedPath {
  std::filesystem::path path;  ///< A folder, or a manifest in it.
  std::string outcome;         ///< "found 'local' 0.1.0", "no such folder", why it was refused.
};

/// Every driver that was found, and every path that was tried.
struct Discovery {
  std::vector<Manifest> drivers;  ///< Sorted by name; a name may occur twice, see find().
  std::vector<TriedPath> tried;   ///< In the order of the search.

  /// The driver with this name; the first one, if several manifests describe the same library. The
  /// message of kNotFound lists all tried paths; kConflict means that two manifests have the name
  /// and different libraries, and lists both.
  [[nodiscard]] Result<Manifest> find(std::string_view name) const;
};

/// A folder to search, and who names it.
struct SearchedFolder {
  std::filesystem::path path;
  std::string named_by;  ///< "driver_path", "HOSTLER_DRIVER_PATH", "hostler".
};

/// The folders to search, in this order: `driver_path` (from the configuration), the one beside
/// hostler's programs (of a build tree, or /usr/lib/hostler), the environment variable
/// HOSTLER_DRIVER_PATH (separated by colons; ignored in a set-user-id process), the system's
/// folders.
std::vector<SearchedFolder> search_order(const std::vector<std::filesystem::path>& driver_path,
                                         const std::filesystem::path& program_folder);
std::vector<std::filesystem::path> paths_of(const std::vector<SearchedFolder>& folders);

/// Reads every `*.hostler.json` in `folders`. A manifest that others could change is not among the
/// drivers. Opens no library. Blocking.
Discovery discover(const std::vector<std::filesystem::path>& folders,
                   const DriverRules& rules = {});

}  // namespace hostler::plugin_host

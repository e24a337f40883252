#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/plugin_host/manifest.h"

namespace hostler::plugin_host {

/// One place that was looked at, and what came of it.
struct Sighting {
  std::filesystem::path path;  ///< A folder, or a manifest in it.
  std::string outcome;         ///< "found 'local' 0.1.0", "no such folder", why it was refused.
};

/// Every driver that can be loaded here, and every path that was tried.
struct Discovery {
  std::vector<Manifest> drivers;  ///< By name; names may occur twice, see find().
  std::vector<Sighting> tried;    ///< In the order of looking.

  /// The driver of this name. kNotFound lists where it was looked for; kConflict names both
  /// manifests if there are two.
  [[nodiscard]] Result<Manifest> find(std::string_view name) const;
};

/// `driver_path` first (from the configuration), then HOSTLER_DRIVER_PATH (colon-separated, ignored
/// in a privileged process), then the system's folders.
std::vector<std::filesystem::path> driver_folders(
    const std::vector<std::filesystem::path>& driver_path);

/// Reads every `*.hostler.json` in `folders`. Opens no library. Blocking.
Discovery discover(const std::vector<std::filesystem::path>& folders);

}  // namespace hostler::plugin_host

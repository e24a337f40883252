#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/plugin_host/library_file.h"
#include "core/plugin_host/manifest.h"
#include "core/plugin_host/turnstile.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

/// The library of a manifest, checked without running any of its code: ABI, owner, mode, sha256 and
/// ELF form. Blocking.
Result<LibraryFile> check_library(const Manifest& manifest);

/// A loaded driver. Never unloaded: its code may be on a stack or in a callback for longer than any
/// owner can know. A library that was replaced on disk is seen by a new process only.
///
/// Threads: loading is serialised; the object is immutable. The table may be called as it says.
class DriverLibrary {
 public:
  /// Checks the manifest's library as check_library() does, loads that very file, and checks its
  /// table. The same library loaded twice is the same object. Blocking.
  static Result<std::shared_ptr<const DriverLibrary>> load(const Manifest& manifest);
  /// Without a manifest to hold it against: for making one. `library` is loaded under its path.
  static Result<std::shared_ptr<const DriverLibrary>> load_unpinned(
      const std::filesystem::path& library);

  [[nodiscard]] const hostler_driver& table() const { return table_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The one lock of a SERIAL_DRIVER library, shared by all sets on it.
  [[nodiscard]] Turnstile& turnstile() const { return *turnstile_; }

  DriverLibrary(std::filesystem::path path, const hostler_driver& table);

 private:
  std::filesystem::path path_;
  hostler_driver table_;  ///< A copy of the size that this host knows; the rest is zero.
  std::string name_;
  std::unique_ptr<Turnstile> turnstile_;
};

}  // namespace hostler::plugin_host

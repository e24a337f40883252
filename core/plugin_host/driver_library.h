#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/plugin_host/library_file.h"
#include "core/plugin_host/manifest.h"
#include "core/plugin_host/serial_gate.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

/// Opens the files that a manifest names by `open`, and compares their digests. Blocks on them.
Result<LibraryFile> open_described(
    const Manifest& manifest,
    const std::function<Result<LibraryFile>(const std::filesystem::path&)>& open);

/// Opens the library that a manifest names and its own files, and checks ABI version, who could
/// change them, sha256 and ELF form without running any code of them. Blocks on the files.
Result<LibraryFile> check_library(const Manifest& manifest, const DriverRules& rules = {});

/// Why a driver of another draft of the ABI cannot be loaded.
std::string other_draft(const std::string& name, std::uint32_t draft);

/// Whether a library's entry function is running in this process. Signal handlers may ask.
bool is_in_entry_function();

/// A loaded driver. It is never unloaded, since nobody can know when the last thread has left its
/// code. To use a library that was replaced on disk, restart the process.
///
/// Threads: any; loads run one after another, and the object is immutable. hostler/driver.h says
/// for each function of the table which threads may call it.
class DriverLibrary {
 public:
  /// Checks the manifest's library as check_library() does, loads the checked file, and checks its
  /// table. The same library loaded twice is the same object. Runs code of the library and blocks
  /// on it.
  static Result<std::shared_ptr<const DriverLibrary>> load(const Manifest& manifest,
                                                           const DriverRules& rules = {});
  /// Loads a library that was opened and checked before, by another process maybe; two of one
  /// `identity` are the same library. Else like load(), but lines of the driver go only where
  /// set_line_sink() has said.
  static Result<std::shared_ptr<const DriverLibrary>> load_open(LibraryFile file,
                                                                const std::string& identity);
  /// Loads a library that has no manifest yet, in order to make one. Whoever could change the file
  /// is not looked at. Else like load().
  static Result<std::shared_ptr<const DriverLibrary>> load_unpinned(
      const std::filesystem::path& library);

  [[nodiscard]] const hostler_driver& table() const { return table_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// For a library that allows one call in the process; all its sets share the gate.
  [[nodiscard]] SerialGate& serial_gate() const { return *serial_gate_; }

  /// What the library exports; null if the table is not a library's own.
  [[nodiscard]] hostler_driver_entry_1_fn entry() const { return entry_; }

  DriverLibrary(std::filesystem::path path, const hostler_driver& table,
                hostler_driver_entry_1_fn own_entry = nullptr);

 private:
  std::filesystem::path path_;
  hostler_driver table_;  ///< A copy; fields that an older driver lacks are zero.
  std::string name_;
  hostler_driver_entry_1_fn entry_;
  std::unique_ptr<SerialGate> serial_gate_;
};

}  // namespace hostler::plugin_host

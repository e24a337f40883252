#pragma once

#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/base/files.h"

namespace hostler::plugin_host {

/// A driver's library as a file that was opened once: what is checked is what gets loaded.
struct LibraryFile {
  std::filesystem::path path;
  UniqueFd fd;

  /// "/proc/self/fd/N": a name of the open file. It must stay open for as long as the process may
  /// load libraries, since the loader knows a library again by its name (R50).
  [[nodiscard]] std::string loadable_name() const;
};

/// Opens a library for loading. An error if it is missing, no regular file, owned by neither root
/// nor this user nor the owner of the running program, or writable by group or others.
Result<LibraryFile> open_library(const std::filesystem::path& path);

/// Lower-case hexadecimal. Blocking.
Result<std::string> sha256_of(const LibraryFile& file);

/// Looks at the file without running any of its code: is it a library for this machine that exports
/// the entry of a driver?
Result<void> check_elf(const LibraryFile& file);

/// "x86_64", "aarch64": of this process.
const char* machine_name();

}  // namespace hostler::plugin_host

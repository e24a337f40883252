#pragma once

#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/base/files.h"

namespace hostler::plugin_host {

/// A driver's library, opened once, so that the file that was checked is also the one that is
/// loaded.
struct LibraryFile {
  std::filesystem::path path;
  UniqueFd fd;

  /// "/proc/self/fd/N": a path to the open file. The system's loader identifies a library by its
  /// path, so a file that was loaded must stay open until the process ends (R50).
  [[nodiscard]] std::string loadable_name() const {
    return "/proc/self/fd/" + std::to_string(fd.get());
  }
};

/// Opens a library for loading. Refuses a file that is missing, is no regular file, can be changed
/// by others than root and this user, or lies beneath `state_dir`, where uploaded files are.
Result<LibraryFile> open_library(const std::filesystem::path& path,
                                 const std::filesystem::path& state_dir);
/// The same for a library that the user of a command has named: who else could change it is not
/// checked.
Result<LibraryFile> open_untrusted_library(const std::filesystem::path& path);

/// Tells the files of a driver apart: another one is there after an upgrade. Empty: the file cannot
/// be looked at. Blocks on the file.
std::string identity_of(const std::filesystem::path& library);

/// In lower-case hexadecimal. Blocks on the file.
Result<std::string> sha256_of(const LibraryFile& file);

/// Checks that the file is a shared library for this machine that exports a driver's entry
/// function. Runs no code of the library; blocks on the file.
Result<void> check_elf(const LibraryFile& file);

/// The architecture of this process: "x86_64", "aarch64".
const char* machine_name();

}  // namespace hostler::plugin_host

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"

namespace hostler::plugin_host {

inline constexpr std::size_t kOwnFilesMax = 4;

/// A path by which an open file is opened again: from its begin, whatever has been read of it.
inline std::string path_of_open(const UniqueFd& file) {
  return "/proc/self/fd/" + std::to_string(file.get());
}

/// Whether this can be the name of a driver's own file: of one in its library's folder that is not
/// hidden.
bool is_own_file_name(const std::string& name);

/// A file that a driver's manifest names beside its library, opened with it.
struct OwnFile {
  std::string name;
  UniqueFd fd;
};

/// A driver's library, opened once, so that the file that was checked is also the one that is
/// loaded, and the driver's own files with it.
struct LibraryFile {
  std::filesystem::path path;
  UniqueFd fd;
  std::vector<OwnFile> own_files = {};
  /// The site trusts no file that the manifest does not name: driver_trust is not "local".
  bool is_listed_only = false;

  /// The system's loader identifies a library by its
  /// path, so a file that was loaded must stay open until the process ends (R50).
  [[nodiscard]] std::string loadable_name() const { return path_of_open(fd); }
};

/// Opens a library for loading. Refuses a file that is missing, is no regular file, can be changed
/// by others than root and this user, or lies beneath `state_dir`, where uploaded files are.
Result<LibraryFile> open_library(const std::filesystem::path& path,
                                 const std::filesystem::path& state_dir);
/// The same for a library that the user of a command has named, and its own files, which stand
/// beside it: who else could change them is not checked.
Result<LibraryFile> open_untrusted_library(
    const std::filesystem::path& path, const std::vector<std::filesystem::path>& own_files = {});

/// Tells the files of a driver apart: another one is there after an upgrade. Empty: the file cannot
/// be looked at. Blocks on the file.
std::string identity_of(const std::filesystem::path& library);

/// In lower-case hexadecimal. `path`: for the message. Blocks on the file.
Result<std::string> sha256_of(const UniqueFd& file, const std::filesystem::path& path);

/// Whether the library or program says itself where the system's loader finds the libraries that it
/// needs (elf::ElfFacts::has_search_path). False for other files. Blocks on the file.
Result<bool> has_search_path(const UniqueFd& file);

/// Checks that the file is a shared library for this machine that exports a driver's entry
/// function. Runs no code of the library; blocks on the file.
Result<void> check_elf(const LibraryFile& file);

/// The architecture of this process: "x86_64", "aarch64".
const char* machine_name();

}  // namespace hostler::plugin_host

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/base/files.h"

/// Files that decide what this process does: its configuration, and code that it loads. Only root
/// and the user of this process may be able to change or exchange them.
namespace hostler {

/// Opens a regular file for reading. Refuses it (kForbidden) if another user could change or
/// exchange it: if the file, a folder above it, or a symbolic link on the way and the folders above
/// that link, belongs to somebody else than root and this user, or if others may write to one of
/// them. It may be writable by this user's private group (not if this user is root), and lie
/// beneath a folder with the sticky bit, such as /tmp.
///
/// `never_beneath`: files that lie beneath this folder are refused, too; empty: no such folder.
/// What is checked is what was opened: every folder is opened once, on the way from "/". Blocks on
/// the file system. Errors name the file, and what to change.
Result<UniqueFd> open_trusted(const std::filesystem::path& path,
                              const std::filesystem::path& never_beneath = {});

/// Opens a folder in which only root and this user can make or exchange files: as open_trusted()
/// checks the folders above a file, but the folder itself may not be writable by others with the
/// sticky bit either. The descriptor serves openat() only.
Result<UniqueFd> open_trusted_folder(const std::filesystem::path& path);

/// Reads a file that open_trusted() opens. Fails if it has more than `max` bytes.
Result<std::string> read_trusted_file(const std::filesystem::path& path, std::size_t max,
                                      const std::filesystem::path& never_beneath = {});
/// The same for a file with a secret, which also has the owner and mode that read_secret_file()
/// wants.
Result<std::string> read_trusted_secret_file(const std::filesystem::path& path, std::size_t max);

}  // namespace hostler

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

/// File helpers of the store. Any thread; they block.
namespace hostler::store {

/// How much a file of this size counts for limits of bytes: 4096 at least, as a small file takes a
/// block of the disk and an inode too.
inline std::uint64_t counted(std::uint64_t bytes) {
  return bytes == 0 ? 0 : std::max<std::uint64_t>(bytes, 4096);
}

/// Makes the folder and its parents (0700); a folder that exists is left as it is.
Result<void> make_folder(const std::filesystem::path& folder);
/// Likewise the state folder: it holds secrets, so it gets the mode 0700. kForbidden if it belongs
/// to another user.
Result<void> make_private_folder(const std::filesystem::path& folder);
/// Makes the creation and removal of names in it durable.
Result<void> sync_folder(const std::filesystem::path& folder);
/// Replaces a file (0600) atomically and durably. kUnavailable if that fails.
Result<void> write_durably(const std::filesystem::path& file, std::string_view content);
/// Names in a folder, sorted; empty if there is no folder.
Result<std::vector<std::string>> names_in(const std::filesystem::path& folder);
/// Up to `length` bytes from `offset`; fewer at the file's end. kNotFound if there is no file.
Result<std::string> read_at(const std::filesystem::path& file, std::uint64_t offset,
                            std::size_t length);

/// Ends the process with a message. After a failed sync it is not known what is on the disk, and a
/// second sync may wrongly succeed. The next start reads what is there.
[[noreturn]] void abort_after_failed_sync(const std::filesystem::path& file);

}  // namespace hostler::store

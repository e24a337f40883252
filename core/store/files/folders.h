#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

/// What the store's parts do with files. Blocking; any thread.
namespace hostler::store {

/// Makes the folder and those above it (0700); one that is there is left as it is.
Result<void> make_folder(const std::filesystem::path& folder);
/// Makes names that were made or removed in it durable.
Result<void> sync_folder(const std::filesystem::path& folder);
/// Replaces a file (0600) in one step; durable when done. kUnavailable if it cannot.
Result<void> write_durably(const std::filesystem::path& file, std::string_view content);
/// Names in a folder, sorted; none if it is not there.
Result<std::vector<std::string>> names_in(const std::filesystem::path& folder);
/// Up to `length` bytes from `offset`; fewer at the file's end. kNotFound if there is no file.
Result<std::string> read_at(const std::filesystem::path& file, std::uint64_t offset,
                            std::size_t length);

/// After a failed sync nobody knows what is on the disk, and asking again may wrongly say that all
/// is well: ends the process with a message. Restart reads what is there.
[[noreturn]] void die_of_failed_sync(const std::filesystem::path& file);

}  // namespace hostler::store

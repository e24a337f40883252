#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::local {

/// Throws std::system_error "cannot <what> <path>: <text of errno>".
[[noreturn]] void throw_errno(const std::string& what, const std::string& path);

/// The whole file; nullopt if it does not exist. Throws on any other failure.
std::optional<std::string> read_file(const std::string& path);

/// The end of a file that others may write meanwhile.
struct Tail {
  std::uint64_t offset = 0;  ///< Of its first byte in the file.
  std::string text;
};
/// At most `max` bytes, none from before `from`. Empty if the file does not exist. Throws as above.
Tail read_tail(const std::string& path, std::uint64_t from, std::size_t max);

/// Creates or replaces a file atomically: readers see the old text or the new text. The file gets
/// `mode`, whatever the umask is. Does not sync, because a machine that loses power also loses its
/// instances.
void write_file(const std::string& path, std::string_view text, unsigned mode = 0600);

/// Creates a folder with exactly `mode`. False: it exists already.
bool make_folder(const std::string& path, unsigned mode);

bool is_there(const std::string& path);

/// Names in a folder, without "." and "..", in any order. Empty if the folder does not exist.
std::vector<std::string> names_in(const std::string& folder);

/// Removes a folder and its content, whatever its depth and permissions. The files in `last`,
/// directly in the folder, are removed after everything else, in that order. Never follows links.
/// Succeeds if the folder does not exist. Throws with the first path that cannot be removed.
void remove_tree(const std::string& folder, const std::vector<std::string>& last = {});

}  // namespace hostler::local

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::local {

/// Throws std::system_error: "cannot <what> <path>: <errno in words>".
[[noreturn]] void throw_errno(const std::string& what, const std::string& path);

/// The whole file, or nothing where there is no such file. Throws on any other failure.
std::optional<std::string> read_file(const std::string& path);

/// Makes or replaces a file: readers see the old text or the new one, never a part. `mode` is what
/// the file gets whatever the umask. Does not sync: a machine that loses power has lost its
/// instances too.
void write_file(const std::string& path, std::string_view text, unsigned mode = 0600);

/// Makes a folder with exactly `mode`; says whether it was made (false: it was there).
bool make_folder(const std::string& path, unsigned mode);

bool is_there(const std::string& path);

/// Names in a folder, without "." and "..", in no order. Empty where the folder is not there.
std::vector<std::string> names_in(const std::string& folder);

/// Removes a folder with all that is in it, whatever its depth and modes. The names in `last`
/// (files directly in it) go after everything else, in that order. Follows no link. Nothing there
/// is no error. Throws with the first path that resists.
void remove_tree(const std::string& folder, const std::vector<std::string>& last = {});

}  // namespace hostler::local

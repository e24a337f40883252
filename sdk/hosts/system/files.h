#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hostler::machines {

/// The whole file. Throws a Failure if it cannot be read or has more than `max` bytes.
std::string read_file(const std::string& path, std::size_t max);

/// Writes a file with exactly this mode, below the folder `at` (AT_FDCWD: the working folder).
/// Throws a Failure.
void write_file(const std::string& path, std::string_view text, unsigned mode, int at = -100);

/// Makes a folder with exactly this mode, if it is not there.
void make_folder(const std::string& path, unsigned mode);

bool is_there(const std::string& path);

}  // namespace hostler::machines

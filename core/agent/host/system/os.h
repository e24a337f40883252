#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files.h"

/// The few system calls that the agent's parts share. All paths are relative to its state folder,
/// which is its working directory. Nothing here uses iostream, NSS, locales or threads.
namespace hostler::agent {

/// "open x: No such file or directory", from errno as it is now.
Error os_error(std::string_view doing, Errc code = Errc::kInternal);

std::int64_t wall_us();
/// Microseconds of CLOCK_BOOTTIME.
std::int64_t boottime_us();

/// The file, cut at `max` bytes; "" if it cannot be read. For /proc and the like.
std::string read_small(const char* path, std::size_t max = 65536);

/// Opens /dev/null, or in a root without /dev an empty pipe end that reads as end of file.
UniqueFd open_null();
/// An anonymous file that holds `data`, at its begin.
Result<UniqueFd> memory_file(std::string_view data);

/// Random bytes as lower-case hexadecimal.
std::string random_hex(std::size_t bytes);

}  // namespace hostler::agent

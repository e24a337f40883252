#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files.h"

/// Small functions on system calls that all parts of the agent use. Paths are relative to the state
/// folder, which is the working directory. Nothing here uses iostream, NSS, locales or threads.
namespace hostler::agent {

/// The current errno as an error: "open x: No such file or directory" for `doing` "open x".
Error os_error(std::string_view doing, Errc code = Errc::kInternal);

/// Microseconds since 1970.
std::int64_t wall_us();
/// Microseconds of CLOCK_BOOTTIME.
std::int64_t boottime_us();

/// The first `max` bytes of a file; "" if it cannot be read. For /proc and the like.
std::string read_small(const char* path, std::size_t max = 65536);

/// Opens /dev/null. In a root without /dev, returns the read end of an empty pipe instead.
UniqueFd open_null();
/// An anonymous file with the content `data`, to be read from its beginning.
Result<UniqueFd> memory_file(std::string_view data);

/// How many descriptors this process and its children may have each: what their soft limit is,
/// after it was raised to 1024 as far as the hard limit allows.
std::uint64_t descriptors_max();

/// Random bytes as lower-case hexadecimal.
std::string random_hex(std::size_t bytes);

}  // namespace hostler::agent

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hostler::agent {

/// The bytes that jobs may use of the file system of the state folder: those that were free before
/// the first job, which the file `scratch` keeps. `unused`: no attempt has begun yet, so that they
/// can be measured. Unset: they were not measured in time, or in another boot: its file may be that
/// of another machine, of which an image was made. The state folder is the working directory.
std::optional<std::int64_t> scratch_bytes(bool unused, std::string_view boot_id);

}  // namespace hostler::agent

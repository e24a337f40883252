#pragma once

#include <cstdint>
#include <optional>

namespace hostler::agent {

/// The bytes that jobs may use of the file system of the state folder: those that were free before
/// the first job, which the file `scratch` keeps. `unused`: no attempt has begun yet, so that they
/// can be measured. Unset: they were not measured in time. The state folder is the working
/// directory.
std::optional<std::int64_t> scratch_bytes(bool unused);

}  // namespace hostler::agent

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/plugin_host/manifest.h"

namespace hostler::driver_host {

/// The path of hostler-driver-host, which is in this folder or in ../lib/hostler.
std::string find_program(const std::filesystem::path& folder);

/// Makes the manifest of a library: a process of its own, `program`, loads it and says what it is.
/// So a library that crashes or hangs when it is loaded ends in an error here. Blocks until the
/// process has answered, for `patience` at most, and ends it. `files`: the driver's own, beside the
/// library.
Result<plugin_host::Manifest> describe_library(const std::string& program,
                                               const std::filesystem::path& library,
                                               const std::vector<std::filesystem::path>& files,
                                               Duration patience = std::chrono::seconds(10));

}  // namespace hostler::driver_host

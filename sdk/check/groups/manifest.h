#pragma once

#include <filesystem>

#include "core/plugin_host/manifest.h"
#include "sdk/check/run/test.h"

namespace hostler::check {

/// Where a manifest is that belongs to the library.
std::filesystem::path manifest_path(const Options& options);
/// Reads it. The kit, unlike hostlerd, does not mind who else may write to the file.
Result<plugin_host::Manifest> read_own_manifest(const Options& options);

}  // namespace hostler::check

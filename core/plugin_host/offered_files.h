#pragma once

#include <vector>

#include "core/base/error.h"
#include "core/plugin_host/library_file.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

/// Loads the libraries among a driver's own files (`*.so`, `*.so.*`) in their order, so that the
/// system's loader finds them by their names. They must stay open until the process ends (R50).
/// Runs code of these libraries.
Result<void> load_libraries(const std::vector<OwnFile>& files);

/// Offers `driver.own_files` to the driver of this process, which asks for them by
/// HOSTLER_EXT_HOST_FILES, and loads the libraries among them. Once, before the driver is loaded: a
/// process has one driver.
Result<void> offer_files(LibraryFile& driver);

/// hostler_host::get_extension. Null in a process that has offered no files.
const void* extension_of_host(const hostler_host* host, const char* id);

}  // namespace hostler::plugin_host

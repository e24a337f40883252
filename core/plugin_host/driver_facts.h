#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plugin_host/library_file.h"
#include "core/plugin_host/manifest.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

/// The extensions that a driver may be asked for.
inline constexpr std::array kKnownExtensions{
    HOSTLER_EXT_HOST_KEY, HOSTLER_EXT_PRICE_HISTORY, HOSTLER_EXT_QUOTA_GROUP,
    HOSTLER_EXT_POWER,    HOSTLER_EXT_OFFERINGS,     HOSTLER_EXT_INTERRUPTION,
    HOSTLER_EXT_CONSOLE,  HOSTLER_EXT_LEFTOVERS,     HOSTLER_EXT_IMAGES};

/// What a driver's table says, read where the library is loaded.
struct DriverFacts {
  std::string name, version, vendor, license, runtime;
  std::string config_schema_json;  ///< Empty: none.
  std::uint32_t min_host_minor = 0;
  std::vector<std::string> extensions;
};

/// The manifest of the library whose table says this, with its own files. Blocks on the files.
Result<Manifest> make_manifest(const LibraryFile& library, DriverFacts facts);

}  // namespace hostler::plugin_host

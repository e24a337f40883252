#pragma once

#include <memory>

#include "core/plugin_host/driver_library.h"
#include "sdk/check/host/hygiene.h"
#include "sdk/check/run/test.h"

namespace hostler::check {

using Library = std::shared_ptr<const plugin_host::DriverLibrary>;

/// Loads the driver once, for the process of a test. Null: it cannot be loaded, which is a failure
/// that is in the findings.
Library load_driver(Context& context);

/// The hygiene of this process, begun when the driver was loaded.
Hygiene& hygiene();

}  // namespace hostler::check

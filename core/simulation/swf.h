#pragma once

#include <memory>

#include "core/base/error.h"
#include "core/simulation/load.h"

namespace hostler::simulation {

/// The jobs of a trace, read line by line. The first one arrives at the start. Each needs the
/// processors and the memory that it asked for, or else used, and belongs to "user-" and the number
/// of its user. Jobs that never ran are skipped. Fails if the file cannot be opened or is no
/// regular file.
[[nodiscard]] Result<std::unique_ptr<Source>> open_trace(const Trace& trace);

}  // namespace hostler::simulation

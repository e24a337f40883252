#pragma once

#include <string>

#include "core/dispatch/events.h"

namespace hostler::sim {

/// One line about an event, for the trace of a day.
std::string describe(const dispatch::Event& event);

}  // namespace hostler::sim

#pragma once

#include "core/fleet/instance.h"

namespace hostler::fleet {

/// Asserts what holds between the groups of facts of an instance after each step. The
/// groups assert what holds within them.
void assert_legal(const Instance& instance);

}  // namespace hostler::fleet

#pragma once

#include <hostler/driver.hpp>
#include <string>

#include "config.h"
#include "instance.h"

namespace hostler::lxd {

/// Emits the record of one instance.
void emit_instance(const Instance& instance, const Config& config, hostler_op* op);

}  // namespace hostler::lxd

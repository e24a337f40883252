#pragma once

#include <string>

#include "hostler/driver.h"

namespace hostler::plugin_host {

/// The functions and limits that this process offers to drivers. One object, never destroyed.
const hostler_host& host_table();

/// Sets the name of a set in the log lines of its driver; an empty name removes it. Any thread.
void name_set_in_log(const hostler_set* set, const std::string& name);

}  // namespace hostler::plugin_host

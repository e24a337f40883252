#pragma once

#include <string>

#include "hostler/driver.h"

namespace hostler::plugin_host {

/// What this process offers to drivers. The same object for as long as the process lives.
const hostler_host& host_table();

/// Names a set in the log lines that its driver writes; an empty name forgets it. Any thread.
void name_set_in_log(const hostler_set* set, const std::string& name);

}  // namespace hostler::plugin_host

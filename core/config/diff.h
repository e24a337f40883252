#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"

namespace hostler::config {

/// The difference between two configurations. Each entry names a key that changed, for people.
struct Diff {
  std::vector<std::string> live;     ///< Changes that a reload (SIGHUP) can apply.
  std::vector<std::string> restart;  ///< Changes that need a restart of the daemon.
};

/// Compares two configurations. Policies refer to sets and pools by index; so without a restart
/// pools may be added only at the end, and sets not at all. A reload applies all changes or none:
/// if `restart` is not empty, the caller must keep the old configuration.
Diff diff(const Config& old, const Config& fresh);

}  // namespace hostler::config

#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"

namespace hostler::config {

/// A key that differs between two configurations.
struct DiffKey {
  std::string path;       ///< Without indices: "access.tcp", "pools".
  std::string name = {};  ///< Of the set or pool that differs; empty: the path names no single one.
  std::string part = {};  ///< For people: which part of it differs; empty: any.
};

/// For people: "sets "west" (config or credentials)".
[[nodiscard]] std::string to_string(const DiffKey& key);

/// The difference between two configurations.
struct Diff {
  std::vector<DiffKey> live;     ///< Changes that a reload (SIGHUP) can apply.
  std::vector<DiffKey> restart;  ///< Changes that need a restart of the daemon.
};

/// Compares two configurations. Policies refer to sets and pools by index; so without a restart
/// pools may be added only at the end, and sets not at all. A reload applies all changes or none:
/// if `restart` is not empty, the caller must keep the old configuration.
Diff diff(const Config& old, const Config& fresh);

}  // namespace hostler::config

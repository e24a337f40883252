#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"

namespace hostler::config {

/// A key whose value differs between two configurations.
struct KeyChange {
  std::string path;      ///< "pools[0].max", in the new file; of what was removed in the old one.
  std::string name;      ///< Of the type, set or pool that it belongs to; empty: none.
  std::string from, to;  ///< As JSON; empty: not set there.
  bool needs_restart = false;
};

/// All keys that diff() counts as changed, one by one. Both configurations were read from text.
/// Types, sets, pools and others with a name are compared with those of the same name. A change
/// of a file that a key names has that key without values. Values that may be secrets are "...".
std::vector<KeyChange> key_changes(const Config& old, const Config& fresh);

}  // namespace hostler::config

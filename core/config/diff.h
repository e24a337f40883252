#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"

namespace hostler::config {

/// What a reload (SIGHUP) would have to do. Each entry is the key that changed, for people.
struct Diff {
  std::vector<std::string> live;     ///< Taken over at once.
  std::vector<std::string> restart;  ///< Only a restart brings them; instances stay through it.
};

/// The policies refer to sets and pools by index, so those may be added only at the end, sets not
/// at all, without a restart. A reload is all or nothing: with anything in `restart` nothing of the
/// new config may be used.
Diff diff(const Config& old, const Config& fresh);

}  // namespace hostler::config

#pragma once

#include <filesystem>
#include <string>

#include "core/config/load.h"

namespace hostler::config {

/// What `hostler config check FILE` prints and how it ends.
struct CheckReport {
  bool good = false;
  std::string text;  ///< One line a problem or warning, then a line that sums up.
};

/// Names every problem of the file, not only the first. Blocking; changes nothing.
CheckReport check(const std::filesystem::path& file, const LoadOptions& options = {});

}  // namespace hostler::config

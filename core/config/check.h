#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/load.h"

namespace hostler::config {

/// What `hostler config check FILE` tells.
struct CheckReport {
  std::vector<Error> problems;
  std::vector<std::string> warnings;
  std::string summary;  ///< "hostler.json: good: 1 set, 2 types, 1 pool"

  [[nodiscard]] bool good() const { return problems.empty(); }
  /// For people: one line a problem or warning, then the summary.
  [[nodiscard]] std::string text() const;
};

/// Names every problem of the file, not only the first. Blocking; changes nothing.
CheckReport check(const std::filesystem::path& file, const LoadOptions& options = {});

}  // namespace hostler::config

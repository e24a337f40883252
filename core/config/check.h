#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/load.h"

namespace hostler::config {

/// The result of `hostler config check FILE`.
struct CheckReport {
  std::vector<Error> problems;
  std::vector<std::string> warnings;
  std::string summary;  ///< "hostler.json: good: 1 set, 2 types, 1 pool"

  /// Sets `summary` to the number of problems.
  void summarise(const std::filesystem::path& file);
  [[nodiscard]] bool good() const { return problems.empty(); }
  /// The report for people: one line for each problem and warning, then the summary.
  [[nodiscard]] std::string text() const;
};

/// Finds all problems of the file, not only the first. Blocks to read the file and the files that
/// it names; changes nothing.
CheckReport check(const std::filesystem::path& file, LoadOptions options = {});

}  // namespace hostler::config

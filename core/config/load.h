#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/places.h"

namespace hostler::config {

struct LoadOptions {
  Surroundings surroundings = Surroundings::of_this_process();
  std::optional<std::filesystem::path> state_dir;  ///< From `--state`; overrides the file.
  /// Refuse files that others than root and this user can change. `hostler config check` only warns
  /// of them, because a file may be checked before it is installed.
  bool trusted_only = true;
  /// False: the files that the config names (keys, tokens, credentials) are not read or checked.
  bool read_files = true;
};

/// The result of reading a config file.
struct Reading {
  Config config;  ///< Valid only if there are no problems.
  std::vector<Error>
      problems;  ///< Each with key, position, the value found and the values allowed.
  std::vector<std::string> warnings;  ///< Settings that are allowed but probably mistakes.
  std::set<std::string> keys;         ///< All keys that the readers know, e.g. "pools[].name".
};

/// Reads `file` and the files that it names. Blocks for some milliseconds; changes nothing.
Reading read(const std::filesystem::path& file, const LoadOptions& options = {});
/// The same for a text in memory. Relative paths in it are relative to `folder`.
Reading read_text(std::string_view text, const std::filesystem::path& folder,
                  const LoadOptions& options = {});

/// Settings of a valid config that are probably mistakes.
std::vector<std::string> warnings_of(const Config& config);

/// How many hosts the pools may have together, those that are switched off apart.
std::int64_t hosts_max_of(const model::SitePolicy& site);

/// For the daemon: the config, or an error with the first problem and the number of the others.
Result<Config> load(const std::filesystem::path& file, const LoadOptions& options = {});

}  // namespace hostler::config

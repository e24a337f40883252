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
  std::optional<std::filesystem::path> state_dir;  ///< Wins over the file's (`--state`).
  /// False: files that the config names (keys, tokens, credentials) are neither read nor checked.
  bool read_files = true;
};

/// Everything about a config file: what it says and all that is wrong with it.
struct Reading {
  Config config;                      ///< To be used only if there are no problems.
  std::vector<Error> problems;        ///< Each with its path, place, what was found and allowed.
  std::vector<std::string> warnings;  ///< Allowed, but hardly meant.
  std::set<std::string> keys;         ///< All keys that were looked for, "pools[].name".
};

/// Reads `file` and what it names. Blocking, a few milliseconds; no other effect.
Reading read(const std::filesystem::path& file, const LoadOptions& options = {});
/// The same from memory; relative paths are taken from `folder`.
Reading read_text(std::string_view text, const std::filesystem::path& folder,
                  const LoadOptions& options = {});

/// The config, or its first problem with the count of the others. What the daemon calls.
Result<Config> load(const std::filesystem::path& file, const LoadOptions& options = {});

}  // namespace hostler::config

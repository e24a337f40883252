#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/error.h"
#include "core/simulation/scenario.h"

namespace hostler::simulation {

/// Reads a scenario file: JSON, with comments. Blocks. Relative paths in it are relative to its
/// folder. The error names the file, and of each problem path, value and what is allowed.
[[nodiscard]] Result<Scenario> read_scenario(const std::filesystem::path& file);
/// The same for a text in memory.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view text,
                                              const std::filesystem::path& folder);
/// The policy of a config file for hostlerd. Its drivers are not loaded, and the files that it
/// names are not read.
[[nodiscard]] Result<model::SitePolicy> read_policy(const std::filesystem::path& file);
/// Refuses what the policy does not have: sets and types that the scenario names, and types by
/// properties, which need a cloud that tells its offerings.
[[nodiscard]] Result<void> check_against(const Scenario& scenario, const model::SitePolicy& policy);

}  // namespace hostler::simulation

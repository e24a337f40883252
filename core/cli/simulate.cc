#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/cli/commands.h"
#include "core/simulation/read_scenario.h"
#include "core/simulation/simulation.h"
#include "core/simulation/svg.h"

/// `hostler simulate`. It needs no daemon.
namespace hostler::cli {
namespace {

using simulation::Named;

/// The config files to run the scenario with, each with its name in the report.
Result<std::vector<std::filesystem::path>> configs_of(const SimulateOptions& options,
                                                      const simulation::Scenario& scenario) {
  if (!options.compare.empty())
    return std::vector<std::filesystem::path>(options.compare.begin(), options.compare.end());
  if (!options.config.empty()) return std::vector<std::filesystem::path>{options.config};
  if (!scenario.config.empty()) return std::vector{scenario.config};
  return fail(Errc::kInvalidArgument,
              options.scenario + ": it has no `config`: add one, or use --config or --compare");
}

/// The name of the file; its path, if another file has the same name.
std::string name_of(const std::filesystem::path& file,
                    const std::vector<std::filesystem::path>& files) {
  const auto same = std::ranges::count_if(
      files, [&](const auto& other) { return other.filename() == file.filename(); });
  return same > 1 ? file.string() : file.filename().string();
}

/// Before the simulation takes its time.
Result<void> check_drawing(const std::string& file) {
  std::error_code problem;
  const auto kind = std::filesystem::status(file, problem).type();
  if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular)
    return fail(Errc::kInvalidArgument, "--svg " + file + ": it is there, and is no regular file");
  return {};
}

Result<std::vector<Named>> run_all(const SimulateOptions& options, std::string& currency) {
  auto scenario = HOSTLER_TRY(simulation::read_scenario(options.scenario));
  if (options.seed) scenario.seed = *options.seed;
  std::vector<Named> out;
  const auto files = HOSTLER_TRY(configs_of(options, scenario));
  for (const auto& file : files) {
    const auto policy = HOSTLER_TRY(simulation::read_policy(file));
    if (auto fits = simulation::check_against(scenario, policy); !fits)
      return tl::unexpected(
          std::move(fits.error()).with_context(options.scenario + " with " + file.string()));
    if (!out.empty() && currency != policy.currency)
      return fail(Errc::kInvalidArgument,
                  file.string() + ": its currency is \"" + policy.currency + "\", and that of " +
                      out.front().name + " is \"" + currency +
                      "\": configurations that are compared need the same currency");
    currency = policy.currency;
    auto report = simulation::simulate(scenario, policy);
    if (!report) return tl::unexpected(std::move(report.error()).with_context(options.scenario));
    out.push_back({name_of(file, files), std::move(*report)});
  }
  return out;
}

}  // namespace

int simulate(const SimulateOptions& options) {
  if (!options.svg.empty())
    if (const auto good = check_drawing(options.svg); !good) return complain(good.error());
  std::string currency;
  const auto reports = run_all(options, currency);
  if (!reports) return complain(reports.error());
  if (!options.svg.empty()) {
    const auto written = write_file(options.svg, simulation::to_svg(*reports), 0644);
    if (!written) return complain(written.error());
  }
  const std::string text = options.json ? simulation::to_json(*reports, currency) + "\n"
                                        : simulation::to_text(*reports, currency);
  std::fputs(text.c_str(), stdout);
  return exit_code::kOk;
}

}  // namespace hostler::cli

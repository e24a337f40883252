#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/cli/commands.h"
#include "core/cli/table.h"
#include "core/config/check.h"
#include "core/driver_host/parent/describe.h"
#include "core/json/writer.h"
#include "core/plugin_host/discovery.h"
#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/manifest.h"
#include "core/plugin_host/sandbox.h"

/// Commands for admins and authors of drivers. They do not need a daemon.
namespace hostler::cli {

namespace {

std::filesystem::path program_folder() {
  std::error_code problem;
  return std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
}

/// Looks for drivers where the hostlerd beside this program would look.
plugin_host::Discovery find_drivers(std::vector<std::filesystem::path> named,
                                    const plugin_host::DriverRules& rules = {}) {
  named.push_back((program_folder() / "../lib/hostler/drivers").lexically_normal());
  return plugin_host::discover(plugin_host::driver_folders(named), rules);
}

Result<void> check_driver(const plugin_host::Manifest& driver,
                          const plugin_host::DriverRules& rules, const config::Set& set,
                          model::Sandbox sandbox_min) {
  HOSTLER_TRY(plugin_host::check_library(driver, rules));
  if (set.isolation == config::Isolation::kChild)
    HOSTLER_TRY(plugin_host::sandbox_of(driver, set.sandbox, sandbox_min));
  return {};
}

/// Holds each set against its driver. A driver that cannot be used is only a warning: the daemon
/// may run on another machine, with other drivers.
void check_sets(const config::Config& config, config::CheckReport& report) {
  const plugin_host::DriverRules rules{.state_dir = config.state_dir,
                                       .sha256 = config.driver_sha256};
  const auto found = find_drivers(config.driver_path, rules);
  for (std::size_t i = 0; i < config.sets.size(); ++i) {
    const auto& set = config.sets[i];
    const auto manifest = found.find(set.driver);
    const auto usable = manifest ? check_driver(*manifest, rules, set, config.sandbox_min)
                                 : tl::unexpected(manifest.error());
    if (!usable)
      report.warnings.push_back("sets \"" + set.name + "\": hostlerd would close this set here: " +
                                usable.error().message);
    if (!manifest) continue;
    const std::string key = "sets[" + std::to_string(i) + "].config";
    const auto problems = plugin_host::config_problems(*manifest, set.config_json);
    if (!problems)
      report.warnings.push_back(key + ": " + problems.error().message);
    else
      for (const auto& problem : *problems)
        report.problems.push_back(
            {Errc::kInvalidArgument, key + ": driver '" + set.driver + "': " + problem, key});
  }
}

std::string to_json(const config::CheckReport& report) {
  std::string out;
  json::Writer w(out);
  w.begin_object().member("good", report.good()).key("errors").begin_array();
  for (const Error& problem : report.problems) {
    w.begin_object().member("message", problem.message);
    if (!problem.path.empty()) w.member("path", problem.path);
    w.end_object();
  }
  w.end_array().key("warnings").begin_array();
  for (const auto& warning : report.warnings) w.value(warning);
  w.end_array().end_object();
  return out;
}

/// A driver that was found.
struct Candidate {
  const plugin_host::Manifest* driver;
  std::string problem;  ///< Why the driver cannot be used; empty: it can.
};

std::vector<Candidate> candidates(const plugin_host::Discovery& found) {
  std::vector<Candidate> out;
  for (const auto& driver : found.drivers) {
    auto usable = found.find(driver.name).map([](const auto&) {});
    if (usable) usable = plugin_host::check_library(driver).map([](const auto&) {});
    out.push_back({&driver, usable ? std::string() : usable.error().message});
  }
  return out;
}

std::string to_json(const plugin_host::Discovery& found, const std::vector<Candidate>& drivers) {
  std::string out;
  json::Writer w(out);
  w.begin_object().key("drivers").begin_array();
  for (const auto& [driver, problem] : drivers) {
    w.begin_object().member("name", driver->name).member("version", driver->version);
    w.member("library", driver->resolved().string());
    if (!problem.empty()) w.member("problem", problem);
    w.end_object();
  }
  w.end_array().key("tried").begin_array();
  for (const auto& one : found.tried)
    w.begin_object().member("path", one.path.string()).member("outcome", one.outcome).end_object();
  w.end_array().end_object();
  return out;
}

}  // namespace

int config_check(const std::string& file, bool json) {
  auto report = config::check(file);
  config::LoadOptions options;
  options.trusted_only = false;  // The report has warnings of these.
  if (report.good())
    if (const auto config = config::load(file, options); config) check_sets(*config, report);
  if (!report.good()) report.summarise(file);
  if (json)
    std::puts(to_json(report).c_str());
  else
    std::fputs(report.text().c_str(), report.good() ? stdout : stderr);
  return report.good() ? exit_code::kOk : exit_code::kFailed;
}

int driver_list(const std::vector<std::string>& folders, bool json) {
  std::vector<std::filesystem::path> named;
  for (const auto& folder : folders) named.push_back(std::filesystem::absolute(folder));
  const auto found = find_drivers(std::move(named));
  const auto drivers = candidates(found);
  if (json) {
    std::puts(to_json(found, drivers).c_str());
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const auto& one : found.tried) rows.push_back({one.path.string(), one.outcome});
    for (const auto& [driver, problem] : drivers)
      if (!problem.empty())
        rows.push_back({driver->resolved().string(), "cannot be used: " + problem});
    std::fputs(format_table({"PATH", "OUTCOME"}, rows).c_str(), stdout);
  }
  const bool all_good =
      !drivers.empty() && std::ranges::all_of(drivers, &std::string::empty, &Candidate::problem);
  return all_good ? exit_code::kOk : exit_code::kFailed;
}

int driver_manifest(const std::string& library, const std::string& sandbox) {
  auto manifest =
      driver_host::describe_library(driver_host::find_program(program_folder()), library);
  if (!manifest) return complain(manifest.error());
  if (const auto wanted = model::parse_sandbox(sandbox)) manifest->sandbox = *wanted;
  std::fputs(to_json(*manifest).c_str(), stdout);
  return exit_code::kOk;
}

}  // namespace hostler::cli

#include <cstdio>

#include "core/cli/commands.h"
#include "core/cli/driver_site.h"
#include "core/config/check.h"
#include "core/json/writer.h"
#include "core/plugin_host/manifest.h"
#include "core/plugin_host/sandbox.h"

/// Commands for admins. They do not need a daemon.
namespace hostler::cli {

namespace {

Result<void> check_set(const plugin_host::Manifest& driver, const DriverSite& site,
                       const config::Set& set, model::Sandbox sandbox_min) {
  HOSTLER_TRY(check_driver(driver, site));
  HOSTLER_TRY(plugin_host::sandbox_of(driver, set.sandbox, sandbox_min));
  return {};
}

/// Holds each set against its driver. A driver that cannot be used is only a warning: the daemon
/// may run on another machine, with other drivers.
void check_sets(const config::Config& config, config::CheckReport& report) {
  const DriverSite site = site_of(config);
  const auto found = find_drivers(site);
  for (std::size_t i = 0; i < config.sets.size(); ++i) {
    const auto& set = config.sets[i];
    const auto manifest = found.find(set.driver);
    const auto usable = manifest ? check_set(*manifest, site, set, config.sandbox_min)
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

}  // namespace hostler::cli

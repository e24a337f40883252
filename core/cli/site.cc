#include <cstdio>
#include <filesystem>

#include "core/cli/commands.h"
#include "core/cli/table.h"
#include "core/config/check.h"
#include "core/plugin_host/discovery.h"
#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/manifest.h"

/// Commands for admins and driver authors that need no daemon.
namespace hostler::cli {

namespace {

/// Where hostlerd looks that lies beside this program.
plugin_host::Discovery discover(std::vector<std::filesystem::path> named) {
  std::error_code problem;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
  named.push_back((program / "../lib/hostler/drivers").lexically_normal());
  return plugin_host::discover(plugin_host::driver_folders(named));
}

/// The daemon may run where other drivers are: worth a warning, no more.
std::string driver_warnings(const config::Config& config) {
  const auto found = discover(config.driver_path);
  std::string out;
  for (const auto& set : config.sets) {
    const auto manifest = found.find(set.driver);
    const auto library =
        manifest ? plugin_host::check_library(*manifest) : tl::unexpected(manifest.error());
    if (!library)
      out += "warning: sets \"" + set.name +
             "\": hostlerd would not start here: " + library.error().message + "\n";
  }
  return out;
}

}  // namespace

int config_check(const std::string& file) {
  const auto report = config::check(file);
  if (report.good)
    if (const auto config = config::load(file); config)
      std::fputs(driver_warnings(*config).c_str(), stdout);
  std::fputs(report.text.c_str(), report.good ? stdout : stderr);
  return report.good ? exit_code::kOk : exit_code::kFailed;
}

int driver_list(const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> named;
  for (const auto& folder : folders) named.push_back(std::filesystem::absolute(folder));
  const auto found = discover(std::move(named));
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : found.tried) rows.push_back({one.path.string(), one.outcome});
  bool all_good = !found.drivers.empty();
  for (const auto& driver : found.drivers) {
    auto why = found.find(driver.name).map([](const auto&) {});
    if (why) why = plugin_host::check_library(driver).map([](const auto&) {});
    if (why) continue;
    all_good = false;
    rows.push_back({driver.resolved().string(), "cannot be used: " + why.error().message});
  }
  std::fputs(format_table({"LOOKED AT", "OUTCOME"}, rows).c_str(), stdout);
  return all_good ? exit_code::kOk : exit_code::kFailed;
}

int driver_manifest(const std::string& library) {
  const auto manifest = plugin_host::make_manifest(library);
  if (!manifest) return complain(manifest.error());
  std::puts(to_json(*manifest).c_str());
  return exit_code::kOk;
}

}  // namespace hostler::cli

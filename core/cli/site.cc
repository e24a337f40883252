#include <cstdio>
#include <filesystem>

#include "core/cli/commands.h"
#include "core/cli/table.h"
#include "core/config/check.h"
#include "core/plugin_host/discovery.h"
#include "core/plugin_host/manifest.h"

/// Commands for admins and driver authors that need no daemon.
namespace hostler::cli {

int config_check(const std::string& file) {
  const auto report = config::check(file);
  std::fputs(report.text.c_str(), report.good ? stdout : stderr);
  return report.good ? exit_code::kOk : exit_code::kFailed;
}

int driver_list(const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> named(folders.begin(), folders.end());
  std::error_code problem;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
  named.push_back((program / "../lib/hostler/drivers").lexically_normal());
  const auto found = plugin_host::discover(plugin_host::driver_folders(named));
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : found.tried) rows.push_back({one.path.string(), one.outcome});
  std::fputs(format_table({"LOOKED AT", "OUTCOME"}, rows).c_str(), stdout);
  return found.drivers.empty() ? exit_code::kFailed : exit_code::kOk;
}

int driver_manifest(const std::string& library) {
  const auto manifest = plugin_host::make_manifest(library);
  if (!manifest) return complain(manifest.error());
  std::puts(to_json(*manifest).c_str());
  return exit_code::kOk;
}

}  // namespace hostler::cli

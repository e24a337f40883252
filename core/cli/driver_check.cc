#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "core/base/files.h"
#include "core/cli/commands.h"
#include "core/cli/kit.h"

namespace hostler::cli {
namespace {

/// The kit, which is beside this program in a build, and in lib/hostler when it is installed.
Result<std::filesystem::path> find_kit() {
  constexpr const char* kName = "driver-check";
  std::error_code problem;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
  const auto beside = folder / kName;
  const auto installed = (folder / "../lib/hostler" / kName).lexically_normal();
  for (const auto& kit : {beside, installed})
    if (std::filesystem::exists(kit, problem)) return kit;
  return fail(Errc::kNotFound,
              "there is no " + beside.string() + " and no " + installed.string() +
                  ": install the package hostler-sdk; in a build of hostler, build "
                  "the target driver-check too");
}

}  // namespace

int run_kit(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "driver-check");
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const auto kit = find_kit();
  if (!kit) return complain(kit.error());
  (void)::execv(kit->c_str(), argv.data());
  return complain(errno_error("run " + kit->string()));
}

int driver_check(const DriverCheckOptions& options) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  for (const auto& glob : options.only) add("--only", glob);
  add("--config", options.config);
  add("--format", options.format);
  add("--seed", options.seed);
  add("--budget", options.budget);
  if (options.live) words.emplace_back("--live");
  if (options.list_tests) words.emplace_back("--list-tests");
  if (options.in_process) words.emplace_back("--in-process");
  words.emplace_back("--");
  if (!options.library.empty()) words.push_back(options.library);
  return run_kit(std::move(words));
}

}  // namespace hostler::cli

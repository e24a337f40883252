#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <variant>

#include "core/cli/commands.h"
#include "core/config/load.h"
#include "core/driver_host/parent/describe.h"
#include "core/driver_host/parent/process_set.h"
#include "core/json/writer.h"
#include "core/plugin_host/library_file.h"
#include "core/plugin_host/sandbox.h"
#include "core/tap/replay.h"

/// `hostler driver replay`: compares a build of a driver with a recording of another. It needs no
/// daemon.
namespace hostler::cli {
namespace {

std::atomic<bool> replay_interrupted = false;

/// INT and TERM end the calls, and what was made is destroyed; a second one ends the program.
class Interruption {
 public:
  Interruption() {
    struct sigaction action {};
    action.sa_handler = [](int) { replay_interrupted = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, &old_int_);
    ::sigaction(SIGTERM, &action, &old_term_);
  }
  ~Interruption() {
    ::sigaction(SIGINT, &old_int_, nullptr);
    ::sigaction(SIGTERM, &old_term_, nullptr);
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  struct sigaction old_int_ {
  }, old_term_{};
};

/// The settings of the set that the replay uses: those that the recording has not.
Result<config::Set> settings_of(const DriverReplayOptions& options, const std::string& set) {
  if (options.config.empty()) return config::Set{};
  config::LoadOptions load;
  load.trusted_only = false;
  const auto config = HOSTLER_TRY(config::load(options.config, load));
  const std::string& name = options.set.empty() ? set : options.set;
  const auto found = std::ranges::find(config.sets, name, &config::Set::name);
  if (found == config.sets.end())
    return fail(Errc::kNotFound,
                options.config + ": it has no set \"" + name + "\"; --set names another");
  if (!found->credentials.command.empty())
    return fail(Errc::kInvalidArgument,
                "set \"" + name +
                    "\" has a credentials_command, which is not run here: write its "
                    "output into a credentials_file");
  return *found;
}

Result<std::unique_ptr<plugin_host::DriverSet>> make_set(const std::string& library,
                                                         const config::Set& settings) {
  std::error_code problem;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
  driver_host::ProcessOptions options;
  options.program = driver_host::find_program(folder);
  const auto own_files = plugin_host::own_files_of(library);
  const auto manifest =
      HOSTLER_TRY(driver_host::describe_library(options.program, library, own_files));
  options.set = "replay";
  options.driver = {manifest.name, manifest.version, {}};
  options.sandbox.level =
      HOSTLER_TRY(plugin_host::sandbox_of(manifest, settings.sandbox, model::Sandbox::kNone));
  options.sandbox.readable = settings.readable;
  auto file = HOSTLER_TRY(plugin_host::open_untrusted_library(library, own_files));
  return driver_host::make_process_set(manifest.name, std::move(file), std::move(options));
}

Result<tap::ReplayReport> run(const DriverReplayOptions& options) {
  std::string set_name;
  HOSTLER_TRY(tap::read_recording(options.recording, [&](const tap::Line& line) -> Result<void> {
    const auto* session = std::get_if<tap::Session>(&line);
    if (session != nullptr) set_name = session->set;
    return {};
  }));
  const auto settings = HOSTLER_TRY(settings_of(options, set_name));
  const auto set = HOSTLER_TRY(make_set(options.library, settings));
  const Interruption interruption;
  return tap::replay(options.recording, *set,
                     {.config_json = settings.config_json,
                      .credentials_json = settings.credentials_json,
                      .creates_max = options.creates_max,
                      .stop = [] { return replay_interrupted.load(); }});
}

std::string to_json(const tap::ReplayReport& report) {
  std::string out;
  json::Writer w(out);
  w.begin_object().member("version", 1).member("recorded", report.recording.calls);
  w.member("made", report.made).member("skipped", report.skipped);
  w.member("stopped", report.stopped);
  for (const auto& [key, texts] :
       {std::pair("differences", &report.differences), std::pair("left", &report.left)}) {
    w.key(key).begin_array();
    for (const auto& text : *texts) w.value(text);
    w.end_array();
  }
  w.end_object();
  return out;
}

void print(const tap::ReplayReport& report) {
  for (const auto& text : report.differences) std::puts(text.c_str());
  std::printf("%llu of %llu calls were made, %llu were skipped, %zu differences\n",
              static_cast<unsigned long long>(report.made),
              static_cast<unsigned long long>(report.recording.calls),
              static_cast<unsigned long long>(report.skipped), report.differences.size());
  for (const auto& id : report.left)
    warn("instance " + id + " could not be destroyed: destroy it by hand");
}

}  // namespace

int driver_replay(const DriverReplayOptions& options) {
  const auto report = run(options);
  if (!report) return complain(report.error());
  if (options.json)
    std::puts(to_json(*report).c_str());
  else
    print(*report);
  const bool same = report->differences.empty() && report->left.empty() && !report->stopped;
  return same ? exit_code::kOk : exit_code::kFailed;
}

}  // namespace hostler::cli

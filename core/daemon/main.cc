#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "core/config/load.h"
#include "core/daemon/daemon.h"
#include "core/daemon/descriptors.h"
#include "core/daemon/service_manager.h"
#include "core/log/log.h"
#include "core/store/load_backup.h"
#include "core/usage/usage.h"

namespace {

using namespace hostler;

/// All threads inherit the mask, so only serve() receives these signals.
sigset_t block_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM})
    sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

void reload(daemon::Daemon& running, const std::filesystem::path& file,
            const config::LoadOptions& options) {
  daemon::notify_service_manager("RELOADING=1");
  const auto done = running.reload(config::load(file, options));
  if (done)
    log::info("daemon", "applied " + file.string());
  else
    log::error("daemon", "the configuration is unchanged: " + done.error().message);
  daemon::notify_service_manager("READY=1");
}

int serve(const std::filesystem::path& file, const config::LoadOptions& options,
          daemon::Options daemon_options) {
  const sigset_t signals = block_signals();
  daemon_options.descriptors_max = daemon::raise_descriptor_limit();
  auto loaded = config::load(file, options);
  if (!loaded) {
    std::fprintf(stderr, "hostlerd: %s\n", loaded.error().message.c_str());
    return 2;
  }
  auto running = daemon::Daemon::start(std::move(*loaded), std::move(daemon_options));
  if (!running) {
    std::fprintf(stderr, "hostlerd: %s\n", running.error().message.c_str());
    return running.error().code == Errc::kInvalidArgument ? 2 : 1;
  }
  daemon::notify_service_manager("READY=1");
  for (;;) {
    int number = 0;
    if (sigwait(&signals, &number) != 0) continue;
    if (number == SIGTERM || number == SIGINT) break;
    if (number == SIGHUP)
      reload(**running, file, options);
    else
      log::info("daemon", "signal " + std::to_string(number) + " means nothing to hostlerd");
  }
  daemon::notify_service_manager("STOPPING=1");
  log::info("daemon", "stopping; instances and jobs go on");
  return 0;
}

int load_backup(const std::filesystem::path& file, const config::LoadOptions& options,
                const std::string& backup) {
  const auto config = config::load(file, options);
  if (!config) {
    std::fprintf(stderr, "hostlerd: %s\n", config.error().message.c_str());
    return 2;
  }
  const auto loaded = store::load_backup(backup, {config->state_dir, config->postgres});
  if (!loaded) {
    std::fprintf(stderr, "hostlerd: %s\n", loaded.error().message.c_str());
    return 1;
  }
  std::printf("%s is loaded into %s\n", backup.c_str(), config->state_dir.c_str());
  return 0;
}

constexpr const char* kDescription =
    "turns waiting work into verified cloud hosts\n\n"
    "hostlerd makes the cloud hosts that its queue of jobs needs, proves over SSH that each is "
    "the\n"
    "one it asked for, runs the jobs there, and gives back what is idle. It stays in the "
    "foreground\n"
    "and logs to standard error.\n";

std::vector<usage::Section> sections() {
  return {{"Signals",
           {{"HUP", "reads the configuration again, and takes newer drivers into use"},
            {"TERM, INT", "stops; instances and jobs go on, and the next start takes them up"},
            {"USR1, USR2, ALRM", "have no effect"}}},
          {"Exit status",
           {{"0", "it was stopped, or a backup was loaded"},
            {"1", "it could not start"},
            {"2", "wrong arguments or configuration"}}},
          {"Environment",
           {{"HOSTLER_DRIVER_PATH",
             "more folders with drivers, with : between, after the configuration's"}}}};
}

int run(int argc, char** argv) {
  CLI::App app{kDescription, "hostlerd"};
  hostler::usage::lay_out_help(app);
  std::string file = "/etc/hostler/hostler.json";
  std::string state, backup;
  bool man = false;
  hostler::daemon::Options options;
  app.set_help_flag("-h,--help", "Print this");
  app.set_version_flag("--version", std::string("hostlerd ") + HOSTLER_VERSION,
                       "Print the version");
  app.add_option("--config", file, "The configuration (/etc/hostler/hostler.json)")
      ->type_name("FILE");
  app.add_option("--state", state, "The state folder; wins over the configuration's")
      ->type_name("FOLDER");
  app.add_option("--take-over-set", options.take_over_sets,
                 "Take this set's instances over although they carry another hostler's id, again "
                 "for more")
      ->type_name("SET")
      ->allow_extra_args(false);
  app.add_flag("--restored", options.restored,
               "Go on from a state that is older than the last one, as after a restore");
  app.add_option("--load-backup", backup,
                 "Fill the empty state folder (and database) from this backup, and end")
      ->type_name("FOLDER");
  app.add_flag("--man", man, "Print the manual page")->group("");
  app.footer(usage::help_text(sections()));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "hostlerd: %s; see hostlerd --help\n", error.what());
    return 2;
  }
  if (man) {
    const auto page =
        usage::man_page(usage::command_of(app), 8, HOSTLER_VERSION, sections(), ".BR hostler (1)");
    std::fputs(page.c_str(), stdout);
    return 0;
  }
  hostler::config::LoadOptions load;
  if (!state.empty()) load.state_dir = std::filesystem::absolute(state);
  if (!backup.empty()) return load_backup(file, load, backup);
  return serve(file, load, std::move(options));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hostlerd: %s\n", error.what());
    return 1;
  }
}

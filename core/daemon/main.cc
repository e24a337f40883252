#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "core/config/load.h"
#include "core/daemon/daemon.h"
#include "core/daemon/notify.h"
#include "core/log/log.h"

namespace {

using namespace hostler;

/// Every thread inherits the mask, so that signals are waited for here and nowhere else.
sigset_t block_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

void reload(daemon::Daemon& running, const std::filesystem::path& file,
            const config::LoadOptions& options) {
  daemon::notify("RELOADING=1");
  auto fresh = config::load(file, options);
  const auto done =
      fresh ? running.reload(std::move(*fresh)) : Result<void>(tl::unexpected(fresh.error()));
  if (done)
    log::info("daemon", "read " + file.string() + " again");
  else
    log::error("daemon", "the configuration stays as it was: " + done.error().message);
  daemon::notify("READY=1");
}

int serve(const std::filesystem::path& file, const config::LoadOptions& options,
          daemon::Options daemon_options) {
  const sigset_t signals = block_signals();
  auto loaded = config::load(file, options);
  if (!loaded) {
    std::fprintf(stderr, "hostlerd: %s\n", loaded.error().message.c_str());
    return 2;
  }
  auto running = daemon::Daemon::start(std::move(*loaded), std::move(daemon_options));
  if (!running) {
    std::fprintf(stderr, "hostlerd: %s\n", running.error().message.c_str());
    return 1;
  }
  daemon::notify("READY=1");
  for (;;) {
    int number = 0;
    if (sigwait(&signals, &number) != 0) continue;
    if (number != SIGHUP) break;
    reload(**running, file, options);
  }
  daemon::notify("STOPPING=1");
  log::info("daemon", "stopping; instances and jobs go on");
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app{"hostlerd: turns waiting work into verified cloud hosts"};
  std::string file = "/etc/hostler/hostler.json";
  std::string state;
  hostler::daemon::Options options;
  app.add_option("--config", file, "The configuration file")->capture_default_str();
  app.add_option("--state", state, "The state folder; wins over the configuration's");
  app.add_option("--take-over-set", options.take_over_sets,
                 "Adopt this set's instances although they belong to another hostler, again for "
                 "more")
      ->allow_extra_args(false);
  app.footer(
      "SIGHUP reads the configuration again; SIGTERM stops, and instances and jobs go on.\n"
      "Exit status: 0 stopped; 1 it could not start; 2 wrong arguments or configuration.");
  app.set_version_flag("--version", std::string("hostlerd ") + HOSTLER_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "hostlerd: %s; see hostlerd --help\n", error.what());
    return 2;
  }
  hostler::config::LoadOptions load;
  if (!state.empty()) load.state_dir = std::filesystem::absolute(state);
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

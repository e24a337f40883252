#pragma once

#include <filesystem>
#include <string>

/// Default paths.
namespace hostler::config {

/// The properties of the process that the default paths depend on. A value, so that tests can
/// choose it.
struct Surroundings {
  bool is_root = false;
  // HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR.
  std::string home = {}, state_home = {}, runtime_dir = {};

  static Surroundings of_this_process();
};

/// /var/lib/hostler; for an ordinary user ~/.local/state/hostler.
std::filesystem::path default_state_dir(const Surroundings& surroundings);
/// /run/hostler/hostler.sock; for an ordinary user hostler.sock in XDG_RUNTIME_DIR, or in the state
/// folder if that variable is not set. The daemon and `hostler` compute the same path, so `hostler`
/// needs no config.
std::filesystem::path default_socket(const Surroundings& surroundings,
                                     const std::filesystem::path& state_dir);

}  // namespace hostler::config

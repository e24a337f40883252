#pragma once

#include <filesystem>
#include <string>

/// Where things are when nobody says otherwise.
namespace hostler::config {

/// What of the process's surroundings decides it; a value, so that tests can make one up.
struct Surroundings {
  bool is_root = false;
  std::string home = {}, state_home = {},
              runtime_dir = {};  ///< HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR.

  static Surroundings of_this_process();
};

/// /var/lib/hostler; for an ordinary user ~/.local/state/hostler.
std::filesystem::path default_state_dir(const Surroundings& surroundings);
/// /run/hostler/hostler.sock; for an ordinary user in XDG_RUNTIME_DIR, else in the state folder.
/// Daemon and command agree on it without reading the same config.
std::filesystem::path default_socket(const Surroundings& surroundings,
                                     const std::filesystem::path& state_dir);

}  // namespace hostler::config

#include "core/config/places.h"

#include <unistd.h>

#include <cstdlib>

namespace hostler::config {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Surroundings Surroundings::of_this_process() {
  return {.is_root = ::geteuid() == 0,
          .home = variable("HOME"),
          .state_home = variable("XDG_STATE_HOME"),
          .runtime_dir = variable("XDG_RUNTIME_DIR")};
}

std::filesystem::path default_state_dir(const Surroundings& surroundings) {
  if (surroundings.is_root) return "/var/lib/hostler";
  if (surroundings.state_home.starts_with('/'))
    return std::filesystem::path(surroundings.state_home) / "hostler";
  return std::filesystem::path(surroundings.home) / ".local/state/hostler";
}

std::filesystem::path default_socket(const Surroundings& surroundings,
                                     const std::filesystem::path& state_dir) {
  if (surroundings.is_root) return "/run/hostler/hostler.sock";
  if (surroundings.runtime_dir.starts_with('/'))
    return std::filesystem::path(surroundings.runtime_dir) / "hostler.sock";
  return state_dir / "hostler.sock";
}

}  // namespace hostler::config

#include "core/base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>

namespace hostler {

SpawnSettings::SpawnSettings() {
  posix_spawnattr_init(&attributes_);
  posix_spawn_file_actions_init(&actions_);
  sigset_t set;
  sigemptyset(&set);
  posix_spawnattr_setsigmask(&attributes_, &set);
  sigfillset(&set);
  posix_spawnattr_setsigdefault(&attributes_, &set);
  // A group of its own (number 0, the default): what it forks is killed with it.
  posix_spawnattr_setflags(
      &attributes_,
      static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
}

SpawnSettings::~SpawnSettings() {
  posix_spawnattr_destroy(&attributes_);
  posix_spawn_file_actions_destroy(&actions_);
}

std::vector<char*> to_pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return tl::unexpected(errno_error("make a pipe", Errc::kUnavailable));
  Pipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  (void)::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return pipe;
}

}  // namespace hostler

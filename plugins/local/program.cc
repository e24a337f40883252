#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <hostler/driver.hpp>

#include "fd.h"

namespace hostler::local {
namespace {

using driver::Error;

/// Owns the objects that posix_spawn needs.
struct SpawnSettings {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;

  SpawnSettings() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attributes, &set);
    posix_spawnattr_setflags(
        &attributes,
        static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

pid_t spawn(const std::vector<std::string>& argv, const char* name) {
  const SpawnSettings settings;
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  if (name != nullptr) arguments[0] = const_cast<char*>(name);
  char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
  char* environment[] = {path, nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0].c_str(), &settings.actions, &settings.attributes,
                                arguments.data(), environment);
  if (error != 0)
    throw Error(HOSTLER_E_INTERNAL, "cannot run " + argv[0] + ": " + std::strerror(error));
  return pid;
}

int ms_until(std::uint64_t deadline_mono_ns) {
  if (deadline_mono_ns == 0) return -1;
  using namespace std::chrono;
  const auto now = duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
  const auto left = (static_cast<std::int64_t>(deadline_mono_ns) - now) / 1'000'000;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

}  // namespace

int run_program(const std::vector<std::string>& argv, hostler_op* op, const char* name) {
  const driver::Fd cancel(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const pid_t pid = spawn(argv, name);
  const driver::Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  bool in_time = true;
  {
    const driver::OnCancel on_cancel(op, [&] {
      const std::uint64_t one = 1;
      if (::write(cancel.get(), &one, sizeof one) < 0) return;  // cancelled already
    });
    pollfd fds[] = {{ended.get(), POLLIN, 0}, {cancel.get(), POLLIN, 0}};
    int ready = 0;
    do {
      ready = ::poll(fds, 2, ms_until(op->deadline_mono_ns));
    } while (ready < 0 && errno == EINTR);
    in_time = (fds[0].revents & POLLIN) != 0;
  }
  if (!in_time) ::kill(pid, SIGKILL);  // the pid is valid until the process is reaped
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    driver::check_cancelled(op);
    throw Error(HOSTLER_E_TIMEOUT, argv[0] + " did not end before the deadline");
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  throw Error(HOSTLER_E_INTERNAL,
              argv[0] + " was killed by signal " + std::to_string(WTERMSIG(status)));
}

}  // namespace hostler::local

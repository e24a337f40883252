#include "core/daemon/command_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>

#include "core/base/spawn.h"
#include "core/base/units.h"
#include "core/daemon/clock.h"

namespace hostler::daemon {
namespace {

/// A process that is killed, with what it has started, and reaped, unless it has ended before.
class Command {
 public:
  Command(pid_t pid, UniqueFd output)
      : pid_(pid),
        output_(std::move(output)),
        exit_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  ~Command() {
    if (!reaped_) (void)reap();
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  [[nodiscard]] int output() const { return output_.get(); }
  /// A descriptor that is readable once the process has ended.
  [[nodiscard]] int exit() const { return exit_.get(); }

  /// The status as waitpid() has it.
  [[nodiscard]] int reap() {
    reaped_ = true;
    (void)::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

 private:
  const pid_t pid_;
  const UniqueFd output_, exit_;
  bool reaped_ = false;
};

/// What can be read now. False: there was an error, or the end.
bool read_some(int fd, std::string& out, std::size_t max) {
  std::array<char, 4096> block{};
  while (out.size() <= max) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got > 0)
      out.append(block.data(), static_cast<std::size_t>(got));
    else
      return got < 0 && (errno == EAGAIN || errno == EINTR);
  }
  return true;
}

int milliseconds_until(Mono deadline) {
  const auto left = deadline - read_clocks().mono;
  const auto rounded_up = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(rounded_up, 0, 60'000));
}

Result<pid_t> spawn(std::vector<std::string>& argv, const UniqueFd& output) {
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(settings.actions(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(settings.actions(), output.get(), STDOUT_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0].c_str(), settings.actions(), settings.attributes(),
                                  to_pointers(argv).data(), environ);
  if (error != 0)
    return fail(Errc::kNotFound, "cannot start " + argv[0] + ": " + std::strerror(error));
  return pid;
}

/// Until the process has ended, and its output is read.
Result<std::string> wait_for(Command& command, const std::string& name,
                             const CommandLimits& limits) {
  const Mono deadline = read_clocks().mono + limits.timeout;
  std::string out;
  std::array<pollfd, 3> watched{pollfd{command.exit(), POLLIN, 0},
                                pollfd{command.output(), POLLIN, 0},
                                pollfd{limits.stop_fd, POLLIN, 0}};
  for (;;) {
    (void)::poll(watched.data(), watched.size(), milliseconds_until(deadline));
    if (!read_some(command.output(), out, limits.bytes_max)) watched[1].fd = -1;
    if (out.size() > limits.bytes_max)
      return fail(Errc::kTooLarge,
                  name + " printed more than " + std::to_string(limits.bytes_max) + " bytes");
    if (watched[0].revents != 0) return out;  // What it printed before its end has been read.
    if (watched[2].revents != 0) return fail(Errc::kUnavailable, name + " was stopped");
    if (read_clocks().mono >= deadline)
      return fail(Errc::kUnavailable,
                  name + " did not end within " + format_duration(limits.timeout));
  }
}

}  // namespace

Result<std::string> command_output(std::vector<std::string> argv, const CommandLimits& limits) {
  const std::string name = argv.at(0);
  auto pipe = HOSTLER_TRY(make_pipe());
  Command command(HOSTLER_TRY(spawn(argv, pipe.write)), std::move(pipe.read));
  pipe.write.reset();
  if (command.exit() < 0) return tl::unexpected(errno_error("watch " + name, Errc::kUnavailable));
  auto out = HOSTLER_TRY(wait_for(command, name, limits));
  const int status = command.reap();
  if (WIFSIGNALED(status))
    return fail(Errc::kUnavailable,
                name + " was ended by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return fail(Errc::kUnavailable, name + " ended with exit status " +
                                        std::to_string(WEXITSTATUS(status)) +
                                        "; its standard error is in the log of hostlerd's service");
  return out;
}

}  // namespace hostler::daemon

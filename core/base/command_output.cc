#include "core/base/command_output.h"

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
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/join.h"
#include "core/base/reaper.h"
#include "core/base/spawn.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler {
namespace {

constexpr std::size_t kErrorsMax = 4096;  // of standard error that is kept
constexpr std::size_t kErrorQuoted = 160;
constexpr Duration kKillMax = std::chrono::seconds(1);
constexpr std::size_t kUnreapedMax = 4;

/// What it prints, as pipes. Without `errors` its standard error is that of this process.
struct Outputs {
  Pipe output;
  std::optional<Pipe> errors;
};

/// What it has printed.
struct Printed {
  std::string output, errors;
};

int milliseconds_until(Mono deadline) {
  const auto left = deadline - read_clocks().mono;
  const auto rounded_up = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(rounded_up, 0, 60'000));
}

/// A process that is killed, with what it has started, and reaped, unless it has ended before.
class Command {
 public:
  Command(pid_t pid, std::string key)
      : pid_(pid),
        key_(std::move(key)),
        exit_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  ~Command() {
    if (!reaped_) (void)reap();
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// A descriptor that is readable once the process has ended.
  [[nodiscard]] int exit() const { return exit_.get(); }

  /// The status as waitpid() has it. After a second a thread waits for it, and it counts as killed.
  [[nodiscard]] int reap() {
    reaped_ = true;
    (void)::kill(-pid_, SIGKILL);
    (void)::kill(pid_, SIGKILL);  // It may have left its group.
    pollfd ended{exit_.get(), POLLIN, 0};
    const Mono deadline = read_clocks().mono + kKillMax;
    while (exit_ && ended.revents == 0 && read_clocks().mono < deadline)
      (void)::poll(&ended, 1, milliseconds_until(deadline));
    int status = SIGKILL;
    // A process that another one traces has ended, and cannot be reaped yet.
    if (::waitpid(pid_, &status, WNOHANG) == 0) reap_later(pid_, key_);
    return status;
  }

 private:
  const pid_t pid_;
  const std::string key_;
  const UniqueFd exit_;
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

/// The same of what is kept in part only.
bool read_and_cut(int fd, std::string& out) {
  std::string more;
  const bool goes_on = read_some(fd, more, kErrorsMax);
  out.append(more, 0, kErrorsMax - std::min(kErrorsMax, out.size()));
  return goes_on;
}

Result<Outputs> make_outputs(bool with_errors) {
  Outputs made;
  made.output = HOSTLER_TRY(make_pipe());
  if (with_errors) made.errors = HOSTLER_TRY(make_pipe());
  return made;
}

Result<pid_t> spawn(std::vector<std::string>& argv, const Outputs& outputs,
                    std::optional<std::vector<std::string>>& environment) {
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(settings.actions(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(settings.actions(), outputs.output.write.get(), STDOUT_FILENO);
  if (outputs.errors)
    posix_spawn_file_actions_adddup2(settings.actions(), outputs.errors->write.get(),
                                     STDERR_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0].c_str(), settings.actions(), settings.attributes(),
                                  to_pointers(argv).data(),
                                  environment ? to_pointers(*environment).data() : environ);
  if (error != 0)
    return fail(Errc::kNotFound, "cannot start " + argv[0] + ": " + std::strerror(error));
  return pid;
}

/// Until the process has ended, and what it printed is read.
Result<Printed> wait_for(const Command& command, const Outputs& outputs, const std::string& name,
                         const CommandLimits& limits) {
  const Mono deadline = read_clocks().mono + limits.timeout;
  Printed printed;
  std::array<pollfd, 4> watched{
      pollfd{command.exit(), POLLIN, 0}, pollfd{outputs.output.read.get(), POLLIN, 0},
      pollfd{limits.stop_fd, POLLIN, 0},
      pollfd{outputs.errors ? outputs.errors->read.get() : -1, POLLIN, 0}};
  for (;;) {
    (void)::poll(watched.data(), watched.size(), milliseconds_until(deadline));
    if (!read_some(outputs.output.read.get(), printed.output, limits.bytes_max)) watched[1].fd = -1;
    if (outputs.errors && !read_and_cut(outputs.errors->read.get(), printed.errors))
      watched[3].fd = -1;
    if (printed.output.size() > limits.bytes_max)
      return fail(Errc::kTooLarge,
                  name + " printed more than " + std::to_string(limits.bytes_max) + " bytes");
    if (watched[0].revents != 0) return printed;  // What it printed before its end has been read.
    if (watched[2].revents != 0) return fail(Errc::kUnavailable, name + " was stopped");
    if (read_clocks().mono >= deadline)
      return fail(Errc::kUnavailable,
                  name + " did not end within " + format_duration(limits.timeout));
  }
}

/// What a person reads about a status other than 0.
std::string explanation(const Printed& printed, bool quotes_errors) {
  if (!quotes_errors) return "; its standard error is in the log of hostlerd's service";
  const std::string line = printed.errors.substr(0, printed.errors.find('\n'));
  return line.empty() ? "" : ": " + printable(line, kErrorQuoted);
}

}  // namespace

std::vector<std::string> plain_environment() {
  std::vector<std::string> made{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                "LC_ALL=C.UTF-8"};
  if (const char* home = std::getenv("HOME"); home != nullptr)
    made.push_back(std::string("HOME=") + home);
  return made;
}

Result<std::string> command_output(std::vector<std::string> argv, const CommandLimits& limits,
                                   CommandSurroundings surroundings) {
  const std::string name = argv.at(0);
  const std::string key = join(argv, std::string_view("\0", 1));
  if (unreaped(key) >= kUnreapedMax)
    return fail(Errc::kUnavailable,
                name + " is not started: " + std::to_string(kUnreapedMax) +
                    " runs of it were killed and have not ended; see what they wait for");
  Outputs outputs = HOSTLER_TRY(make_outputs(surroundings.quotes_errors));
  Command command(HOSTLER_TRY(spawn(argv, outputs, surroundings.environment)), key);
  outputs.output.write.reset();
  if (outputs.errors) outputs.errors->write.reset();
  if (command.exit() < 0) return tl::unexpected(errno_error("watch " + name, Errc::kUnavailable));
  auto printed = HOSTLER_TRY(wait_for(command, outputs, name, limits));
  const int status = command.reap();
  if (WIFSIGNALED(status))
    return fail(Errc::kUnavailable,
                name + " was ended by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return fail(Errc::kUnavailable, name + " ended with exit status " +
                                        std::to_string(WEXITSTATUS(status)) +
                                        explanation(printed, surroundings.quotes_errors));
  return std::move(printed.output);
}

}  // namespace hostler

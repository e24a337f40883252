#include "core/agent/host/server/host_command.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "core/agent/host/system/launch.h"

namespace hostler::agent {
namespace {

constexpr std::size_t kPipeBytes = 65536;  // Of a new pipe.

struct Pipe {
  UniqueFd out, in;
};

/// Holds `bytes` where the kernel allows that; 64 KiB in any case.
Pipe make_pipe(std::size_t bytes) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return {};
  Pipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  if (bytes > kPipeBytes) (void)::fcntl(ends[0], F_SETPIPE_SZ, static_cast<int>(bytes));
  return pipe;
}

std::string read_pipe(const UniqueFd& pipe, std::size_t max) {
  std::string out(pipe ? max : 0, '\0');
  std::size_t length = 0;
  while (length < out.size()) {
    const ssize_t n = ::read(pipe.get(), out.data() + length, out.size() - length);
    if (n <= 0) break;
    length += static_cast<std::size_t>(n);
  }
  out.resize(length);
  return out;
}

}  // namespace

bool HostCommand::start(std::vector<std::string> command, Errors errors, std::int64_t kill_at,
                        std::size_t text_max) {
  Pipe output = make_pipe(text_max);
  Pipe apart = errors == Errors::kApart ? make_pipe(text_max) : Pipe();
  if (!output.out || (errors == Errors::kApart && !apart.out)) return false;
  const UniqueFd in = open_null();
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Launch program;
  program.command = std::move(command);
  program.folder = "/";
  program.stdin_fd = in.get();
  program.stdout_fd = program.stderr_fd = output.in.get();
  if (errors == Errors::kApart) program.stderr_fd = apart.in.get();
  if (errors == Errors::kDropped && nowhere) program.stderr_fd = nowhere.get();
  const auto pid = launch(program);
  if (!pid) return false;
  pid_ = *pid;
  output_ = std::move(output.out);
  errors_ = std::move(apart.out);
  text_max_ = text_max;
  timed_out_ = false;
  kill_at_ = kill_at;
  return true;
}

void HostCommand::kill() const {
  // Where vfork() is fork(), as under tsan, it may not have made its group yet.
  if (is_running() && ::kill(-pid_, SIGKILL) != 0) (void)::kill(pid_, SIGKILL);
}

bool HostCommand::kill_overdue(std::int64_t now) {
  if (!is_running() || now < kill_at_) return false;
  timed_out_ = true;
  kill_at_ = INT64_MAX;
  kill();
  return true;
}

HostCommand::Outcome HostCommand::read_printed() {
  Outcome out;
  out.timed_out = timed_out_;
  out.output = read_pipe(output_, text_max_);
  out.errors = read_pipe(errors_, text_max_);
  return out;
}

HostCommand::Outcome HostCommand::finish(int status) {
  Outcome out = read_printed();
  out.status = status;
  pid_ = 0;
  output_.reset();
  errors_.reset();
  return out;
}

}  // namespace hostler::agent

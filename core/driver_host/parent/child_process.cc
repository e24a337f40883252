#include "core/driver_host/parent/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/spawn.h"
#include "core/driver_host/wire/child_arguments.h"
#include "core/driver_host/wire/limits.h"

namespace hostler::driver_host {
namespace {

/// Above the numbers that the process gets, so that no dup2 overwrites one that is still needed.
Result<UniqueFd> above_standard(const UniqueFd& fd) {
  UniqueFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 16));
  if (!copy) return tl::unexpected(errno_error("duplicate a descriptor", Errc::kUnavailable));
  return copy;
}

}  // namespace

std::vector<std::string> driver_environment() {
  std::vector<std::string> out{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                               "LANG=C.UTF-8"};
  for (const char* name : {"TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "https_proxy",
                           "HTTPS_PROXY", "no_proxy", "NO_PROXY"})
    if (const char* value = ::secure_getenv(name); value != nullptr)
      out.push_back(std::string(name) + "=" + value);
  return out;
}

Result<std::shared_ptr<ChildProcess>> ChildProcess::start(ChildId id, const ChildOptions& options,
                                                          const plugin_host::LibraryFile& library) {
  auto calls = HOSTLER_TRY(make_socket_pair());
  auto control = HOSTLER_TRY(make_socket_pair());
  auto output = HOSTLER_TRY(make_pipe());
  const UniqueFd calls_end = HOSTLER_TRY(above_standard(calls.theirs));
  const UniqueFd control_end = HOSTLER_TRY(above_standard(control.theirs));
  const UniqueFd library_file = HOSTLER_TRY(above_standard(library.fd));
  const UniqueFd output_end = HOSTLER_TRY(above_standard(output.write));
  std::vector<std::string> own_names;
  std::vector<UniqueFd> own_files;
  for (const auto& [name, fd] : library.own_files) {
    own_names.push_back(name);
    own_files.push_back(HOSTLER_TRY(above_standard(fd)));
  }
  SpawnSettings settings;
  auto* const actions = settings.actions();
  posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions, output_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(actions, output_end.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(actions, calls_end.get(), kCallsFd);
  posix_spawn_file_actions_adddup2(actions, control_end.get(), kControlFd);
  posix_spawn_file_actions_adddup2(actions, library_file.get(), kLibraryFd);
  for (std::size_t i = 0; i < own_files.size(); ++i)
    posix_spawn_file_actions_adddup2(actions, own_files[i].get(),
                                     kOwnFilesFd + static_cast<int>(i));
  auto argv = to_argv(options.program, {.library = library.path.string(),
                                        .parent = static_cast<int>(::getpid()),
                                        .own_files = std::move(own_names),
                                        .is_listed_only = library.is_listed_only,
                                        .sandbox = options.sandbox,
                                        .cgroups = options.cgroups});
  auto variables = driver_environment();
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, options.program.c_str(), actions, settings.attributes(),
                                  to_pointers(argv).data(), to_pointers(variables).data());
  if (error != 0)
    return fail(error == ENOENT ? Errc::kNotFound : Errc::kUnavailable,
                "cannot start " + options.program + ": " + std::strerror(error));
  std::shared_ptr<ChildProcess> out(new ChildProcess(
      id, pid, std::move(calls.ours), std::move(control.ours), std::move(output.read)));
  // Some kernels have no such thing; with too few descriptors the next try may have it.
  if (!out->end_ && (errno == EMFILE || errno == ENFILE))
    return tl::unexpected(errno_error("watch the process of a driver", Errc::kUnavailable));
  return out;
}

ChildProcess::ChildProcess(ChildId id, pid_t pid, UniqueFd calls, UniqueFd control, UniqueFd output)
    : id_(id),
      pid_(pid),
      calls_(std::move(calls)),
      control_(std::move(control)),
      output_(std::move(output)),
      end_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

ChildProcess::~ChildProcess() {
  if (reaped_) return;
  kill();
  reap();
}

// ---- sending -----------------------------------------------------------------------------------

void ChildProcess::send_call(FrameType type, std::uint64_t call, std::string_view body) {
  Waiting waiting;
  if (body.size() <= kDatagramMax) {
    waiting.message = make_message(type, call, body);
  } else {
    auto file = make_memory_file(body);
    if (!file) return;  // The call ends at its deadline.
    waiting = {make_message(type, call, {}, kInFile), *std::move(file)};
  }
  const MutexLock lock(mutex_);
  if (!backlog_.empty() || send_now(waiting) == Sent::kFull) backlog_.push_back(std::move(waiting));
}

/// A message that the process cannot get is dropped: it has ended, and with it the call.
Sent ChildProcess::send_now(const Waiting& waiting) const {
  return waiting.file ? send_with_file(calls_, waiting.message, waiting.file, false)
                      : send_message(calls_, waiting.message, false);
}

void ChildProcess::send_control(FrameType type, std::uint64_t call, std::string_view body) const {
  (void)send_message(control_, make_message(type, call, body), false);
}

bool ChildProcess::has_backlog() {
  const MutexLock lock(mutex_);
  return !backlog_.empty();
}

void ChildProcess::flush() {
  const MutexLock lock(mutex_);
  while (!backlog_.empty() && send_now(backlog_.front()) != Sent::kFull) backlog_.pop_front();
}

// ---- receiving, the end ------------------------------------------------------------------------

Received ChildProcess::receive(std::string& buffer) const {
  return receive_message(calls_, buffer, false, false);
}

bool ChildProcess::read_output(std::string& into) {
  if (!output_) return false;
  std::array<char, 4096> block{};
  const ssize_t n = ::read(output_.get(), block.data(), block.size());
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  into.append(block.data(), static_cast<std::size_t>(n));
  if (n == 0) output_.reset();
  return n > 0;
}

void ChildProcess::kill() const {
  if (reaped_) return;
  (void)::kill(-pid_, SIGKILL);
  (void)::kill(pid_, SIGKILL);
}

ChildProcess::End ChildProcess::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {"was ended by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")",
            signal, signal == SIGKILL};
  }
  const int code = WEXITSTATUS(status);
  return {"has ended with status " + std::to_string(code), 0, code == 0};
}

}  // namespace hostler::driver_host

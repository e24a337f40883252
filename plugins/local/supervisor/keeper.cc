#include "supervisor/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "folder/files.h"
#include "folder/lock.h"
#include "supervisor/child.h"
#include "supervisor/confinement.h"
#include "supervisor/machine.h"
#include "supervisor/sweep.h"

namespace hostler::local {
namespace {

constexpr int kMachineEndsWithinMs = 2000;  // its own grace period is 1 s

std::string random_hex() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes) throw_errno("read", "random bytes");
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

driver::Fd open_control(const InstanceFolder& folder) {
  const std::string path = folder.control();
  if (::mkfifo(path.c_str(), 0600) != 0 && errno != EEXIST) throw_errno("make", path);
  // Opened for reading and writing, so that it never reports end of file.
  driver::Fd fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd) throw_errno("open", path);
  return fd;
}

std::pair<driver::Fd, driver::Fd> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("make", "a pipe");
  return {driver::Fd(ends[0]), driver::Fd(ends[1])};
}

std::string read_all(int fd) {
  std::string text;
  char buffer[512];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return text;
  }
}

std::string last_line(const std::string& path) {
  std::string text = read_file(path).value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto newline = text.rfind('\n');
  text = newline == std::string::npos ? text : text.substr(newline + 1);
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text.substr(0, 300);
}

}  // namespace

Keeper::Keeper(InstanceFolder folder, driver::Fd lock)
    : folder_(std::move(folder)), lock_(std::move(lock)), signals_(take_signals()) {
  // Only needed without namespaces.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  plan_ = folder_.boot_plan();
  state_ = folder_.state();
}

Wanted Keeper::run(int ready) {
  control_ = open_control(folder_);  // before the order is read, so that no order is missed
  announce_boot();
  if (const driver::Fd told(ready); told && ::write(told.get(), "r", 1) != 1)
    throw_errno("answer to", "the caller");
  try {
    if (wait_for_boot_delay() && start_machine()) wait_for_end();
  } catch (const std::exception& wrong) {
    fail(wrong.what());
  }
  stop_machine(false);
  switch (folder_.order().wanted) {
    case Wanted::kDestroyed:
      folder_.remove();
      return Wanted::kDestroyed;
    case Wanted::kStopped:
      state_.phase = Phase::kStopped;
      state_.reason.clear();
      folder_.set_state(state_);
      return Wanted::kStopped;
    case Wanted::kRunning:
      if (state_.phase != Phase::kFailed) fail("its supervisor was ended by SIGTERM");
      // Last, because others may start the instance as soon as this is written.
      folder_.set_state(state_);
      return Wanted::kRunning;
  }
  return Wanted::kRunning;
}

bool Keeper::leave(Wanted done) {
  control_.reset();
  lock_.reset();
  if (done == Wanted::kDestroyed || told_to_end_ || !is_there(folder_.record())) return false;
  if (folder_.order().wanted == done) return false;
  std::optional<Lock> again = try_lock(folder_.lock());
  if (!again) return false;  // the present holder of the lock has read the order
  lock_ = again->keep();
  return true;
}

void Keeper::announce_boot() {
  state_.phase = Phase::kBooting;
  state_.reason.clear();
  state_.boot_id = random_hex();
  state_.generation += 1;
  state_.launched_unix_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::system_clock::now().time_since_epoch())
                                .count();
  state_.keeper = Process::of(::getpid());
  state_.machine = {};
  folder_.set_state(state_);
}

/// False: the order has changed meanwhile.
bool Keeper::wait_for_boot_delay() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(plan_.delay_ms);
  for (;;) {
    if (ordered_otherwise()) return false;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    poll_events(static_cast<int>(left.count()));
  }
}

bool Keeper::start_machine() {
  std::string refusal;
  if (plan_.confinement != "subreapers") machine_ = fork_machine(true, refusal);
  state_.confinement = "namespaces";
  if (machine_.pid < 0 && plan_.confinement != "namespaces") {
    machine_ = fork_machine(false, refusal);
    state_.confinement = "subreapers";
  }
  if (machine_.pid < 0) {
    fail("cannot start its processes: " + refusal);
    return false;
  }
  state_.phase = Phase::kRunning;
  state_.machine = Process::of(machine_.pid);
  folder_.set_state(state_);
  // The machine waits for this byte. So nothing of it runs before the state file names it.
  return ::write(machine_.life.get(), "g", 1) == 1;
}

/// Forks the machine process, which waits. If namespaces are not allowed, the pid is -1 and
/// `refusal` says why.
Keeper::Boot Keeper::fork_machine(bool namespaces, std::string& refusal) {
  auto [setup_read, setup_write] = make_pipe();
  auto [life_read, life_write] = make_pipe();
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  const pid_t pid = namespaces ? fork_into_namespaces() : ::fork();
  if (pid < 0) {
    refusal = std::string("fork: ") + std::generic_category().message(errno);
    return {};
  }
  if (pid == 0) {
    int status = kMachineBroken;
    try {
      life_write.reset();
      setup_read.reset();
      control_.reset();
      if (namespaces) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // the kernel then kills everything in the namespace
        settle_in_namespaces(folder_, plan_, uid, gid);
      } else {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
      }
      setup_write.reset();
      char go = 0;
      // End of file: the keeper has died.
      if (::read(life_read.get(), &go, 1) != 1) ::_exit(kMachineBroken);
      // The machine keeps a copy of the lock, so that it is free only when both processes have
      // ended.
      status = Machine(folder_, plan_, state_.boot_id, std::move(life_read)).run();
    } catch (const std::exception& wrong) {
      const std::string text = wrong.what();
      if (::write(setup_write ? setup_write.get() : STDERR_FILENO, text.data(), text.size()) < 0)
        status = kMachineBroken;
    }
    ::_exit(status);
  }
  setup_write.reset();
  refusal = read_all(setup_read.get());
  if (refusal.empty()) return {pid, std::move(life_write)};
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return {};
}

void Keeper::wait_for_end() {
  for (;;) {
    if (reap_machine(false)) {
      if (folder_.order().wanted != Wanted::kRunning) return;
      if (WIFSIGNALED(machine_status_))
        return fail("its supervisor was killed by signal " +
                    std::to_string(WTERMSIG(machine_status_)));
      if (WEXITSTATUS(machine_status_) == kMachineNoSshd)
        return fail("sshd would not stay up: " + last_line(folder_.sshd_log()));
      return fail("its supervisor ended: " + last_line(folder_.console()));
    }
    if (ordered_otherwise()) {
      if (!told_to_end_) stop_machine(folder_.order().graceful);
      return;
    }
    poll_events(-1);
  }
}

/// Blocks until no process of the instance is left.
void Keeper::stop_machine(bool graceful) {
  if (machine_.pid > 0 && graceful) {
    using Clock = std::chrono::steady_clock;
    ::kill(machine_.pid, SIGTERM);
    const auto until = Clock::now() + std::chrono::milliseconds(kMachineEndsWithinMs);
    while (!reap_machine(false) && Clock::now() < until) poll_events(100);
  }
  if (machine_.pid > 0) {
    ::kill(machine_.pid, SIGKILL);
    reap_machine(true);
  }
  sweep_descendants();
}

/// True: the machine process has ended. With namespaces, all other processes have ended before it.
bool Keeper::reap_machine(bool wait) {
  if (machine_.pid < 0) return true;
  pid_t pid = 0;
  do {
    pid = ::waitpid(machine_.pid, &machine_status_, wait ? 0 : WNOHANG);
  } while (pid < 0 && errno == EINTR);
  if (pid == 0) return false;
  machine_.pid = -1;
  return true;
}

bool Keeper::ordered_otherwise() {
  return told_to_end_ || folder_.order().wanted != Wanted::kRunning;
}

bool Keeper::poll_events(int timeout_ms) {
  pollfd fds[] = {{control_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  const int ready = ::poll(fds, 2, timeout_ms);
  char bytes[64];
  while (::read(control_.get(), bytes, sizeof bytes) > 0) {
  }
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal)
    if (signal.ssi_signo == SIGTERM) told_to_end_ = true;
  return ready > 0;
}

void Keeper::fail(const std::string& reason) {
  state_.phase = Phase::kFailed;
  state_.reason = reason;
}

}  // namespace hostler::local

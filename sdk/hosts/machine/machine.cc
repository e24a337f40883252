#include "sdk/hosts/machine/machine.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sdk/hosts/system/failure.h"

namespace hostler::machines {
namespace {

constexpr std::size_t kConsoleMax = std::size_t{64} * 1024;

struct Pipe {
  driver::Fd from, to;
  Pipe() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) fail_errno("make a pipe");
    from.reset(fds[0]);
    to.reset(fds[1]);
  }
};

/// Runs in the first process of the machine, and does not return.
[[noreturn]] void be_machine(const BootPlan& plan, int go, int console) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with the keeper, and all its processes with it
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(console, STDOUT_FILENO);
  ::dup2(console, STDERR_FILENO);
  constexpr int kGo = 3;
  if (go != kGo) ::dup2(go, kGo);
  ::fcntl(kGo, F_SETFD, FD_CLOEXEC);
  ::syscall(SYS_close_range, kGo + 1U, ~0U, 0U);  // the keeper's connections and consoles
  ::_exit(boot_machine(plan, kGo));
}

}  // namespace

Machine::Machine(BootPlan plan, std::int64_t created_ms)
    : plan_(std::move(plan)), created_ms_(created_ms), tags_(plan_.spec.tags) {
  Pipe go;
  Pipe console;
  pid_ = fork_into_namespaces(plan_.bridge);
  if (pid_ == 0) be_machine(plan_, go.from.get(), console.to.get());
  go_ = std::move(go.to);
  console_pipe_ = std::move(console.from);
  ::fcntl(console_pipe_.get(), F_SETFL, O_NONBLOCK);
}

Machine::~Machine() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Machine::go() {
  if (::write(go_.get(), "g", 1) != 1) fail_errno("start the machine " + plan_.id);
  go_.reset();
}

void Machine::read_console() {
  char buffer[16384];
  const ssize_t count = ::read(console_pipe_.get(), buffer, sizeof buffer);
  if (count == 0) console_pipe_.reset();
  if (count <= 0) return;
  console_.append(buffer, static_cast<std::size_t>(count));
  if (!listens_) listens_ = console_.find("Server listening on ") != std::string::npos;
  if (console_.size() > kConsoleMax) console_.erase(0, console_.size() - kConsoleMax);
}

void Machine::reap() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
}

MachineRecord Machine::record() const {
  MachineRecord record;
  record.id = plan_.id;
  record.key = plan_.spec.key;
  record.state = pid_ <= 0 ? "failed" : listens_ ? "running" : "booting";
  record.address = plan_.address;
  record.port = plan_.port;
  record.user = plan_.account.name;
  record.host_key = plan_.host_key_public;
  record.created_ms = created_ms_;
  record.tags = tags_;
  return record;
}

}  // namespace hostler::machines

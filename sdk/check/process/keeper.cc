#include "sdk/check/process/keeper.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <vector>

namespace hostler::check {
namespace {

volatile sig_atomic_t kept_process = 0;

void end_kept(int /*signal*/) {
  const pid_t kept = kept_process;
  if (kept > 0) (void)::kill(kept, SIGKILL);
}

/// This process dies with its parent; with SIGTERM it still cleans up.
void follow_parent(pid_t parent, int signal) {
  (void)::prctl(PR_SET_PDEATHSIG, signal);
  if (::getppid() != parent) ::_exit(0);
}

/// Waits for the process, and takes notice of others that end: a driver's programs may wait for
/// the end of their own children, who are this process's when their parents have ended.
int wait_for(pid_t process) {
  for (int status = 0;;) {
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended == process || (ended < 0 && errno != EINTR)) return status;
  }
}

/// Starts `body` in a process of its own.
pid_t start(const std::function<void()>& body) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  // In a new pid namespace the parent is not seen, and has the number 0.
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (const pid_t now = ::getppid(); now != parent && now != 0) ::_exit(0);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) (void)::signal(signal, SIG_DFL);
  body();
  ::_exit(0);
}

std::vector<pid_t> own_children() {
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  std::vector<pid_t> out;
  for (pid_t one = 0; children >> one;) out.push_back(one);
  return out;
}

/// What a driver has left becomes this process's child when its parent ends.
void end_leftovers() {
  for (;;) {
    for (const pid_t child : own_children()) (void)::kill(child, SIGKILL);
    if (::waitpid(-1, nullptr, 0) < 0 && errno != EINTR) return;
  }
}

constexpr int kNotAllowed = 99;  // the status of a process that may not make namespaces

/// In a pid namespace of its own, with a /proc that shows it: a driver may look for its processes
/// there. The first process of the namespace; all others end with it.
void run_first_process(KeeperState& state, const std::function<void()>& test) {
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    ::_exit(kNotAllowed);
  state.has_namespace = true;
  const int status = wait_for(start(test));
  state.status = status;
}

void run_in_namespaces(KeeperState& state, const std::function<void()>& test) {
  if (::unshare(CLONE_NEWPID | CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    ::_exit(kNotAllowed);
  const int status = wait_for(start([&] { run_first_process(state, test); }));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) ::_exit(kNotAllowed);
}

}  // namespace

void keep(KeeperState& state, const std::function<void()>& test) {
  follow_parent(::getppid(), SIGTERM);
  (void)::setpgid(0, 0);
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int signal : {SIGINT, SIGHUP}) (void)::signal(signal, SIG_IGN);
  (void)::signal(SIGTERM, &end_kept);
  kept_process = start([&] { run_in_namespaces(state, test); });
  const int namespaces = wait_for(kept_process);
  if (WIFEXITED(namespaces) && WEXITSTATUS(namespaces) == kNotAllowed) {
    const pid_t kept = start(test);
    kept_process = kept;
    const int status = wait_for(kept);
    state.status = status;
    (void)::kill(-kept, SIGKILL);
  }
  end_leftovers();
  ::_exit(0);
}

}  // namespace hostler::check

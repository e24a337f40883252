#include "core/agent/host/attempt/cleaner.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/agent/host/system/trees.h"

namespace hostler::agent {

void Cleaner::open() {
  (void)::mkdir("trash", 0700);
  has_work_ = true;
}

bool Cleaner::discard(const std::string& path) {
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return true;
  // The pid distinguishes these names from those of an earlier server.
  const std::string trash = "trash/" + std::to_string(::getpid()) + "." + std::to_string(++count_);
  if (!move_tree(AT_FDCWD, path.c_str(), AT_FDCWD, trash.c_str())) return false;
  has_work_ = true;
  return true;
}

void Cleaner::tick() {
  if (!has_work_ || child_ > 0) return;
  has_work_ = false;
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Close all descriptors of the server: an inherited server.lock would block the next server.
    (void)::syscall(SYS_close_range, 3U, ~0U, 0U);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    (void)::setpriority(PRIO_PROCESS, 0, 19);
    empty_folder("trash");
    ::_exit(0);
  }
  if (pid > 0) child_ = pid;
}

bool Cleaner::on_exit(pid_t pid) {
  if (pid != child_) return false;
  child_ = 0;
  return true;
}

}  // namespace hostler::agent

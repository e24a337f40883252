#include "supervisor/confinement.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

#include "folder/files.h"

namespace hostler::local {
namespace {

constexpr int kNamespaces = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;

void write_proc(const char* path, const std::string& text) {
  const driver::Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  if (!fd) throw_errno("open", path);
  if (::write(fd.get(), text.data(), text.size()) < 0) throw_errno("write", path);
}

/// Maps the user to the same uid. Without a mapping the user would be `nobody` in the namespace.
void map_user_to_itself(uid_t uid, gid_t gid) {
  write_proc("/proc/self/setgroups", "deny");
  write_proc("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1");
  write_proc("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1");
}

void lay_over(const std::string& file, const char* path) {
  if (::mount(file.c_str(), path, nullptr, MS_BIND, nullptr) != 0) throw_errno("mount over", path);
}

void settle(uid_t uid, gid_t gid) {
  if (uid != 0) map_user_to_itself(uid, gid);
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    throw_errno("make the mounts private below", "/");
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    throw_errno("mount", "/proc");
}

}  // namespace

pid_t fork_into_namespaces() {
  const int flags = kNamespaces | SIGCHLD | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
  // The system call, because clone() of glibc needs a separate stack. Safe, as there is one thread.
  return static_cast<pid_t>(::syscall(SYS_clone, flags, 0L, 0L, 0L, 0L));
}

bool namespaces_work() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  const pid_t pid = fork_into_namespaces();
  if (pid < 0) return false;
  if (pid == 0) {
    try {
      settle(uid, gid);
      lay_over("/etc/passwd", "/etc/passwd");
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && status == 0;
}

void settle_in_namespaces(const InstanceFolder& folder, const BootPlan& plan, uid_t uid,
                          gid_t gid) {
  settle(uid, gid);
  lay_over(folder.passwd(), "/etc/passwd");
  if (plan.own_shadow) lay_over(folder.shadow(), "/etc/shadow");
  const std::string name = folder.path().substr(folder.path().rfind('/') + 1);
  if (::sethostname(name.c_str(), name.size()) != 0) throw_errno("set the host name", name);
}

}  // namespace hostler::local

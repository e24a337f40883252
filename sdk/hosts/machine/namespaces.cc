#include "sdk/hosts/machine/namespaces.h"

#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "sdk/drivers/fd.h"
#include "sdk/hosts/machine/view.h"
#include "sdk/hosts/system/failure.h"
#include "sdk/hosts/system/files.h"

namespace hostler::machines {
namespace {

constexpr std::size_t kAccountsMax = std::size_t{16} << 20;

std::string setting(const char* path) {
  try {
    std::string text = read_file(path, 64);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  } catch (const Failure&) {
    return "";
  }
}

/// What an administrator can do about it.
std::string forbidden_by(const Account& account) {
  if (account.is_root())
    return "root lacks the capability SYS_ADMIN here, as in most containers; run the container "
           "with it, or use a virtual machine";
  if (setting("/proc/sys/user/max_user_namespaces") == "0")
    return "set the sysctl user.max_user_namespaces above 0";
  if (setting("/proc/sys/kernel/unprivileged_userns_clone") == "0")
    return "set the sysctl kernel.unprivileged_userns_clone to 1";
  if (setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1")
    return "set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0";
  return "namespaces of ordinary users are forbidden here, as in most containers; check the sysctl "
         "user.max_user_namespaces, or run as root";
}

[[noreturn]] void impossible(const Account& account, const std::string& what) {
  const std::string why = std::strerror(errno);
  throw Failure("impossible", "machines are not possible on this system: cannot " + what + ": " +
                                  why + "; " + forbidden_by(account));
}

void map_user_to_itself(const Account& account) {
  const std::string uid = std::to_string(account.uid);
  const std::string gid = std::to_string(account.gid);
  const std::pair<const char*, std::string> lines[] = {
      {"/proc/self/setgroups", "deny"},
      {"/proc/self/uid_map", uid + " " + uid + " 1"},
      {"/proc/self/gid_map", gid + " " + gid + " 1"}};
  for (const auto& [path, text] : lines) {
    const driver::Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
    if (!fd || ::write(fd.get(), text.data(), text.size()) < 0)
      impossible(account, std::string("write ") + path);
  }
}

/// The file with `line` first, and without other lines of this name.
std::string with_first(const std::string& path, const std::string& name, const std::string& line) {
  std::string rest;
  if (::access(path.c_str(), R_OK) == 0) rest = read_file(path, kAccountsMax);
  std::string text = line;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const std::string one = rest.substr(0, end);
    rest.erase(0, end == std::string::npos ? rest.size() : end + 1);
    if (one.compare(0, name.size() + 1, name + ":") != 0) text += one + "\n";
  }
  return text;
}

/// In a child of check_possible.
void try_machine(const Account& account, bool bridge) {
  enter_keeper_namespaces(account, bridge);
  const pid_t pid = fork_into_namespaces(bridge);
  if (pid == 0) {
    try {
      build_view(account);
    } catch (const Failure& failure) {
      ::dprintf(STDERR_FILENO, "%s", failure.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || status != 0) ::_exit(1);
}

}  // namespace

Account Account::own() {
  Account account;
  account.uid = ::geteuid();
  account.gid = ::getegid();
  const passwd* entry = ::getpwuid(account.uid);
  account.name = entry != nullptr ? entry->pw_name : "user";
  return account;
}

std::string passwd_of(const Account& account) {
  return with_first("/etc/passwd", account.name,
                    account.name + ":x:" + std::to_string(account.uid) + ":" +
                        std::to_string(account.gid) + "::" + account.home() + ":/bin/sh\n");
}

std::string shadow_of(const Account& account) {
  return with_first("/etc/shadow", account.name, account.name + ":*:19000:0:99999:7:::\n");
}

void enter_keeper_namespaces(const Account& account, bool bridge) {
  const int flags =
      CLONE_NEWNS | (account.is_root() ? 0 : CLONE_NEWUSER) | (bridge ? CLONE_NEWNET : 0);
  if (::unshare(flags) != 0) impossible(account, "make namespaces");
  if (!account.is_root()) map_user_to_itself(account);
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    impossible(account, "make the mounts private");
  if (::mount("tmpfs", kScratch, "tmpfs", MS_NOSUID | MS_NODEV, "mode=700,size=64m") != 0)
    impossible(account, std::string("mount a folder in memory over ") + kScratch);
  if (account.is_root()) return;
  // ssh-keygen refuses to work for a uid that has no account.
  const std::string passwd = std::string(kScratch) + "/passwd";
  write_file(passwd, passwd_of(account), 0644);
  if (::mount(passwd.c_str(), "/etc/passwd", nullptr, MS_BIND, nullptr) != 0)
    impossible(account, "mount over /etc/passwd");
}

pid_t fork_into_namespaces(bool network) {
  const unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | SIGCHLD |
                              (network ? CLONE_NEWNET : 0UL);
  // The system call, because clone() of glibc needs a separate stack. Safe, as there is one thread.
  const long pid = ::syscall(SYS_clone, flags, 0L, 0L, 0L, 0L);
  if (pid < 0) fail_errno("make the namespaces of a machine");
  return static_cast<pid_t>(pid);
}

void check_possible(const Account& account, bool bridge) {
  for (const char* program : {"/usr/sbin/sshd", "/usr/bin/ssh-keygen"})
    if (::access(program, X_OK) != 0)
      throw Failure("impossible", std::string(program) + " is missing; install openssh-server");
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) fail_errno("make a pipe");
  const driver::Fd from(pipe_fds[0]);
  driver::Fd to(pipe_fds[1]);
  const pid_t pid = ::fork();
  if (pid < 0) fail_errno("fork");
  if (pid == 0) {
    ::dup2(to.get(), STDERR_FILENO);
    try {
      try_machine(account, bridge);
    } catch (const Failure& failure) {
      ::dprintf(STDERR_FILENO, "%s", failure.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  to.reset();
  std::string said(4096, '\0');
  const ssize_t count = ::read(from.get(), said.data(), said.size());
  said.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return;
  throw Failure("impossible", said.empty() ? "machines are not possible on this system" : said);
}

}  // namespace hostler::machines

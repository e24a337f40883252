#include "core/agent/host/system/launch.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "core/agent/host/system/os.h"

namespace hostler::agent {
namespace {

/// Input and result of the child between vfork and exec. The child shares the memory of this
/// process, so it must not allocate or lock. It reports a failure in `failed` and `step`.
struct Plan {
  std::vector<std::string> programs;  ///< Paths to try, in this order.
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::vector<std::string> groups;  ///< cgroup.procs files; writing "0" enters the cgroup.
  const char* folder = nullptr;
  uid_t uid = 0;
  bool no_new_privs = true;
  bool drop_capabilities = false;
  int fds[3] = {-1, -1, -1};
  // Written by the child.
  volatile int failed = 0;
  const char* volatile step = "";
};

std::vector<std::string> programs_of(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> out;
  std::size_t at = 0;
  for (;;) {
    const std::size_t colon = path.find(':', at);
    const std::string folder = path.substr(at, colon == std::string::npos ? colon : colon - at);
    if (!folder.empty()) out.push_back(folder + "/" + name);
    if (colon == std::string::npos) return out;
    at = colon + 1;
  }
}

void give_up(Plan& plan, const char* step) {
  plan.failed = errno;
  plan.step = step;
  ::_exit(127);
}

/// Uses plain system calls. The functions of glibc would signal threads, which a vforked child does
/// not have.
void change_user(Plan& plan) {
  if (plan.uid == 0) return;
  if (::syscall(SYS_setgroups, 0, nullptr) != 0 ||
      ::syscall(SYS_setresgid, plan.uid, plan.uid, plan.uid) != 0 ||
      ::syscall(SYS_setresuid, plan.uid, plan.uid, plan.uid) != 0)
    give_up(plan, "change to the job's user");
}

/// While this process has the right to: before it changes its user.
void empty_bounding_set(const Plan& plan) {
  if (!plan.drop_capabilities) return;
  for (unsigned long one = 0; ::prctl(PR_CAPBSET_DROP, one, 0, 0, 0) == 0; ++one) {
  }
}

/// An inherited capability would outlive the bounding set.
void drop_capabilities(const Plan& plan) {
  if (!plan.drop_capabilities) return;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  (void)::syscall(SYS_capset, &header, none);
}

void enter_cgroups(Plan& plan) {
  for (const std::string& group : plan.groups) {
    const int fd = ::open(group.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || ::write(fd, "0", 1) != 1) give_up(plan, "enter the job's cgroup");
    ::close(fd);
  }
}

[[noreturn]] void run_child(Plan& plan) {
  ::setsid();
  enter_cgroups(plan);
  // Move the descriptors above 2 first, because they may be 0 to 2 in another order.
  for (int& fd : plan.fds)
    if (fd < 3) fd = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
  for (int i = 0; i < 3; ++i)
    if (::dup2(plan.fds[i], i) < 0) give_up(plan, "set stdin, stdout and stderr");
  empty_bounding_set(plan);
  change_user(plan);
  // Root without capabilities may not pass the folders of others.
  if (plan.uid == 0 && ::chdir(plan.folder) != 0) give_up(plan, "enter the working folder");
  drop_capabilities(plan);
  if (plan.no_new_privs) (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (plan.uid != 0 && ::chdir(plan.folder) != 0) give_up(plan, "enter the working folder");
  ::umask(022);
  for (const int number : {SIGCHLD, SIGTERM, SIGUSR1, SIGPIPE, SIGHUP, SIGINT, SIGQUIT})
    ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int worst = ENOENT;
  for (const std::string& path : plan.programs) {
    // access() costs a tenth of an execve() that fails.
    if (plan.programs.size() > 1 && ::access(path.c_str(), F_OK) != 0 &&
        (errno == ENOENT || errno == ENOTDIR))
      continue;
    ::execve(path.c_str(), plan.argv.data(), plan.envp.data());
    if (errno != ENOENT && errno != ENOTDIR) worst = errno;
    if (worst != ENOENT && worst != EACCES) break;
  }
  errno = worst;
  give_up(plan, "exec");
  ::_exit(127);
}

/// True of an error of execve() that another host is likely to have, too.
bool is_of_the_program(int error) {
  switch (error) {
    case E2BIG:
    case EACCES:
    case EINVAL:
    case EISDIR:
    case ELIBBAD:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOENT:
    case ENOEXEC:
    case ENOTDIR:
    case EPERM:
    case ETXTBSY:
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<pid_t> launch(const Launch& program) {
  Plan plan;
  std::map<std::string, std::string> env;
  for (const auto& [name, value] : program.env) env[name] = value;
  if (!env.contains("PATH")) env["PATH"] = kDefaultPath;
  std::vector<std::string> lines;
  lines.reserve(env.size());
  for (const auto& [name, value] : env) lines.push_back(name + "=" + value);
  for (std::string& line : lines) plan.envp.push_back(line.data());
  plan.envp.push_back(nullptr);
  std::vector<std::string> args = program.command;
  for (std::string& arg : args) plan.argv.push_back(arg.data());
  plan.argv.push_back(nullptr);
  plan.programs = programs_of(args[0], env["PATH"]);
  for (const std::string& group : program.cgroups) plan.groups.push_back(group + "/cgroup.procs");
  plan.folder = program.folder.c_str();
  plan.uid = program.uid;
  plan.no_new_privs = program.no_new_privs;
  plan.drop_capabilities = program.drop_capabilities;
  plan.fds[0] = program.stdin_fd;
  plan.fds[1] = program.stdout_fd;
  plan.fds[2] = program.stderr_fd;

  // The child uses only system calls and `plan`. With fork(), half as many jobs start per second.
  // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  const pid_t pid = ::vfork();
  if (pid == 0) run_child(plan);
  // NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  if (pid < 0) return tl::unexpected(os_error("fork"));
  if (plan.failed == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  errno = plan.failed;
  std::string doing = plan.step;
  if (doing == "exec") {
    const Errc code = is_of_the_program(errno) ? Errc::kInvalidArgument : Errc::kInternal;
    return tl::unexpected(os_error(doing + " " + program.command[0], code));
  }
  if (doing == "enter the working folder")
    doing +=
        " " + program.folder + " (the job's user needs search permission on each folder above it)";
  return tl::unexpected(os_error(doing));
}

}  // namespace hostler::agent

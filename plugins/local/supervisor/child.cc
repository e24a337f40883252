#include "supervisor/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace hostler::local {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (const std::string& s : strings) list.push_back(const_cast<char*>(s.c_str()));
  list.push_back(nullptr);
  return list;
}

void redirect(int from, int to) {
  if (from >= 0) ::dup2(from, to);
}

}  // namespace

pid_t start_child(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                  const std::string& output) {
  const std::vector<char*> arguments = pointers(argv);
  const std::vector<char*> variables = pointers(environment);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::setsid();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  redirect(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  redirect(out, STDOUT_FILENO);
  redirect(out, STDERR_FILENO);
  ::execve(arguments[0], arguments.data(), variables.data());
  ::_exit(127);
}

driver::Fd take_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  ::sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &set, nullptr);
  return driver::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace hostler::local

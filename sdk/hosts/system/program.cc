#include "sdk/hosts/system/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "sdk/drivers/fd.h"
#include "sdk/hosts/system/failure.h"

namespace hostler::machines {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (const std::string& text : strings) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

/// Runs in a child: becomes the program.
[[noreturn]] void become(char* const* argv, char* const* environment) {
  ::setsid();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execvpe(argv[0], argv, environment);
  ::_exit(127);
}

/// A file in memory that holds `text`.
driver::Fd memory_file(const std::string& text) {
  driver::Fd fd(::memfd_create("hostler-hosts", MFD_CLOEXEC));
  if (!fd) fail_errno("make a file in memory");
  if (!text.empty() &&
      ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    fail_errno("write a file in memory");
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

std::string content_of(const driver::Fd& fd) {
  constexpr std::size_t kOutputMax = std::size_t{64} * 1024;
  std::string text(kOutputMax, '\0');
  const ssize_t count = ::pread(fd.get(), text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

}  // namespace

pid_t start_program(const std::vector<std::string>& argv,
                    const std::vector<std::string>& environment) {
  const std::vector<char*> arguments = pointers(argv);
  const std::vector<char*> variables = pointers(environment);
  const pid_t pid = ::fork();
  if (pid == 0) become(arguments.data(), variables.data());
  return pid;
}

std::string run_program(const std::vector<std::string>& argv, const std::string& input) {
  const driver::Fd in = memory_file(input);
  const driver::Fd out = memory_file("");
  const driver::Fd errors = memory_file("");
  const std::vector<char*> arguments = pointers(argv);
  const std::vector<char*> variables = pointers({kPath, "LC_ALL=C"});
  const pid_t pid = ::fork();
  if (pid < 0) fail_errno("fork for " + argv[0]);
  if (pid == 0) {
    ::dup2(in.get(), STDIN_FILENO);
    ::dup2(out.get(), STDOUT_FILENO);
    ::dup2(errors.get(), STDERR_FILENO);
    become(arguments.data(), variables.data());
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return content_of(out);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw Failure("internal", "cannot run `" + argv[0] + "`: it is not installed");
  std::string said = content_of(errors);
  constexpr std::size_t kSaidMax = 500;
  if (said.size() > kSaidMax) said.erase(0, said.size() - kSaidMax);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  throw Failure("internal", argv[0] + " has failed: " + said);
}

}  // namespace hostler::machines

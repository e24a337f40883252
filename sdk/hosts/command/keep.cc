#include "sdk/hosts/command/keep.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "sdk/hosts/command/connection_file.h"
#include "sdk/hosts/keeper/keeper.h"
#include "sdk/hosts/machine/namespaces.h"
#include "sdk/hosts/system/failure.h"

namespace hostler::machines {
namespace {

/// The folder of the connection file. Held by the keeper as well, in whose mounts its path may be
/// hidden.
struct Folder {
  driver::Fd fd, parent;
  std::string path, name;
  bool is_new = false;

  void remove() const {
    ::unlinkat(fd.get(), kConnectionFile, 0);
    if (is_new) ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
  }
};

Folder open_folder(const std::string& given) {
  Folder folder;
  std::string path = given;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  folder.is_new = ::mkdir(path.c_str(), 0700) == 0;
  if (!folder.is_new && errno != EEXIST) fail_errno("make the folder " + path);
  char real[PATH_MAX];
  if (::realpath(path.c_str(), real) == nullptr) fail_errno("open the folder " + path);
  folder.path = real;
  const auto slash = folder.path.rfind('/');
  folder.name = folder.path.substr(slash + 1);
  folder.parent.reset(::open(slash == 0 ? "/" : folder.path.substr(0, slash).c_str(),
                             O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  folder.fd.reset(::open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.fd || !folder.parent) fail_errno("open the folder " + path);
  if (::flock(folder.fd.get(), LOCK_EX | LOCK_NB) != 0)
    throw Failure("internal", "another keeper uses the folder " + path);
  return folder;
}

Folder temporary_folder() {
  std::string path = "/tmp/hostler-hosts-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) fail_errno("make a folder in /tmp");
  Folder folder = open_folder(path);
  folder.is_new = true;
  return folder;
}

/// The keeper. Tells `ready` its endpoint, or "!" and why it cannot work.
[[noreturn]] void be_keeper(const Options& options, const Folder& folder, driver::Fd life,
                            int ready) {
  int status = 0;
  try {
    const Account account = Account::own();
    enter_keeper_namespaces(account, options.keeper.bridge);
    const std::string token = new_token();
    Keeper keeper(options.keeper, account, token, std::move(life));
    write_connection_file(folder.fd.get(), {keeper.endpoint(), token});
    ::dprintf(ready, "%s", keeper.endpoint().c_str());
    ::close(ready);
    keeper.run();
  } catch (const Failure& failure) {
    ::dprintf(ready, "!%s", failure.what());
    status = 1;
  }
  folder.remove();
  ::_exit(status);
}

std::string read_all(int fd) {
  std::string text;
  char buffer[1024];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

/// The process with which all machines end, and the end of a pipe that keeps it alive.
struct KeeperProcess {
  pid_t pid = -1;
  driver::Fd life;
  std::string endpoint;

  void end() {
    life.reset();
    while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid = -1;
  }
};

KeeperProcess start_keeper(const Options& options, const Folder& folder) {
  int life[2];
  int ready[2];
  if (::pipe2(life, O_CLOEXEC) != 0 || ::pipe2(ready, O_CLOEXEC) != 0) fail_errno("make a pipe");
  driver::Fd life_read(life[0]);
  KeeperProcess keeper;
  keeper.life.reset(life[1]);
  const driver::Fd ready_read(ready[0]);
  driver::Fd ready_write(ready[1]);
  keeper.pid = ::fork();
  if (keeper.pid < 0) fail_errno("fork");
  if (keeper.pid == 0) {
    keeper.life.reset();
    ::setsid();  // what a terminal sends is for the process that watches
    be_keeper(options, folder, std::move(life_read), ready_write.get());
  }
  ready_write.reset();
  keeper.endpoint = read_all(ready_read.get());
  if (!keeper.endpoint.empty() && keeper.endpoint[0] != '!') return keeper;
  keeper.end();
  throw Failure("internal",
                keeper.endpoint.empty() ? "the keeper has died" : keeper.endpoint.substr(1));
}

driver::Fd take_ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int one : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, one);
  ::sigprocmask(SIG_SETMASK, &set, nullptr);
  return driver::Fd(::signalfd(-1, &set, SFD_CLOEXEC));
}

[[noreturn]] void be_program(const Options& options, const Folder& folder, pid_t keeper) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (options.keeper.bridge) {
    const std::string path = "/proc/" + std::to_string(keeper) + "/ns/net";
    const driver::Fd network(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!network || ::setns(network.get(), CLONE_NEWNET) != 0) {
      std::perror("hostler-hosts: cannot enter the network of the machines");
      ::_exit(1);
    }
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setenv("HOSTLER_HOSTS", (folder.path + "/" + kConnectionFile).c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : options.program)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  std::perror(("hostler-hosts: cannot run " + options.program[0]).c_str());
  ::_exit(127);
}

int status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Waits for the end of the program, or of the keeper if there is no program. Passes signals on to
/// the program; the second one kills it.
int watch(const Options& options, KeeperProcess& keeper, pid_t program, const driver::Fd& signals) {
  int ends_asked = 0;
  for (;;) {
    pollfd polled[] = {{signals.get(), POLLIN, 0},
                       {options.until_eof ? STDIN_FILENO : -1, POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0) continue;
    char input[1024];
    if (polled[1].revents != 0 && ::read(STDIN_FILENO, input, sizeof input) <= 0) return 0;
    if (polled[0].revents == 0) continue;
    signalfd_siginfo signal{};
    if (::read(signals.get(), &signal, sizeof signal) != sizeof signal) continue;
    if (signal.ssi_signo != SIGCHLD) {
      if (program < 0) return 0;
      ::kill(program, ends_asked++ == 0 ? static_cast<int>(signal.ssi_signo) : SIGKILL);
    }
    int status = 0;
    if (program > 0 && ::waitpid(program, &status, WNOHANG) == program) return status_of(status);
    if (keeper.pid > 0 && ::waitpid(keeper.pid, &status, WNOHANG) == keeper.pid) {
      keeper.pid = -1;
      if (program < 0) return status_of(status);
    }
  }
}

}  // namespace

int keep(const Options& options) {
  check_possible(Account::own(), options.keeper.bridge);
  const Folder folder = options.command == "run" ? temporary_folder() : open_folder(options.folder);
  const driver::Fd signals = take_ending_signals();
  KeeperProcess keeper;
  try {
    keeper = start_keeper(options, folder);
  } catch (const Failure&) {
    folder.remove();
    throw;
  }
  pid_t program = -1;
  if (options.command == "run") {
    program = ::fork();
    if (program == 0) be_program(options, folder, keeper.pid);
  } else {
    std::printf("{\"endpoint\":\"%s\",\"connection\":\"%s/%s\"}\n", keeper.endpoint.c_str(),
                folder.path.c_str(), kConnectionFile);
    std::fflush(stdout);
  }
  const int status = watch(options, keeper, program, signals);
  keeper.end();
  folder.remove();
  return status;
}

}  // namespace hostler::machines

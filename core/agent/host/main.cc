#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "core/agent/host/server/server.h"
#include "core/agent/host/server/socket.h"
#include "core/agent/host/system/os.h"

/// hostler-agent, the program that hostler copies to a host. The SSH channel runs `connect`, which
/// starts the server if none runs, and hands the channel over to it. See core/agent/README.md.
namespace hostler::agent {
namespace {

constexpr std::string_view kUsage =
    "usage: hostler-agent connect --dir DIR   connect stdin and stdout to the server of DIR\n"
    "       hostler-agent serve --dir DIR     run the server of DIR\n";

int complain(std::string_view problem) {
  (void)write_all(STDERR_FILENO, "hostler-agent: " + std::string(problem) + "\n", "stderr");
  return 1;
}

Result<void> enter(const std::string& folder) {
  // 0711: jobs that run as other users can enter the folder but not list it.
  if (::mkdir(folder.c_str(), 0711) != 0 && errno != EEXIST)
    return tl::unexpected(os_error("create " + folder));
  if (::chdir(folder.c_str()) != 0) return tl::unexpected(os_error("enter " + folder));
  struct stat info {};
  if (::stat(".", &info) != 0) return tl::unexpected(os_error("stat " + folder));
  if (info.st_uid != ::geteuid() || (info.st_mode & 022) != 0)
    return fail(Errc::kForbidden,
                folder + " must belong to this user and must not be writable for others");
  return {};
}

int serve() {
  ::umask(022);
  auto server = Server::create();
  if (!server) return complain(server.error().message);
  (*server)->run();
  return 0;
}

/// Starts a server that outlives this session. Returns when it listens or has failed.
Result<void> start_server() {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return tl::unexpected(os_error("pipe"));
  const pid_t pid = ::fork();
  if (pid < 0) return tl::unexpected(os_error("fork"));
  if (pid == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    const UniqueFd null = open_null();
    const int log = ::open("server.log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ::dup2(null.get(), STDIN_FILENO);
    ::dup2(null.get(), STDOUT_FILENO);
    ::dup2(log >= 0 ? log : null.get(), STDERR_FILENO);
    ::umask(022);
    auto server = Server::create();
    if (!server) ::_exit(complain(server.error().message));
    ::close(ready[1]);
    (*server)->run();
    ::_exit(0);
  }
  ::close(ready[1]);
  char byte = 0;
  while (::read(ready[0], &byte, 1) < 0 && errno == EINTR) {
  }
  ::close(ready[0]);
  return {};
}

int connect() {
  for (int i = 0; i < 50; ++i) {
    auto control = hand_over();
    if (!control && control.error().code != Errc::kUnavailable)
      return complain(control.error().message);
    if (control) {
      // The server has the channel now. This process only keeps the SSH session open.
      ::close(STDIN_FILENO);
      ::close(STDOUT_FILENO);
      char byte = 0;
      while (::read(control->get(), &byte, 1) < 0 && errno == EINTR) {
      }
      return 0;
    }
    if (const auto started = start_server(); !started) return complain(started.error().message);
    if (i > 0) {
      const timespec pause{0, 20'000'000};
      ::nanosleep(&pause, nullptr);
    }
  }
  return complain("cannot start a server: " + read_small("server.log", 4096));
}

int run(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  std::string folder;
  for (int i = 2; i + 1 < argc; i += 2)
    if (std::string_view(argv[i]) == "--dir") folder = argv[i + 1];
  if (folder.empty() || argc != 4 || (verb != "serve" && verb != "connect")) {
    (void)write_all(STDERR_FILENO, kUsage, "stderr");
    return 2;
  }
  if (const auto entered = enter(folder); !entered) return complain(entered.error().message);
  ::signal(SIGPIPE, SIG_IGN);
  return verb == "serve" ? serve() : connect();
}

}  // namespace
}  // namespace hostler::agent

int main(int argc, char** argv) { return hostler::agent::run(argc, argv); }

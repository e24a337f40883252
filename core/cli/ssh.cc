#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/cli/commands.h"
#include "core/cli/follow.h"
#include "core/cli/ssh_command.h"

/// Logging in on the hosts of leases.
namespace hostler::cli {
namespace {

constexpr int kSshFailed = 255;  ///< The status of ssh, unless it is that of the command.

/// A folder with a file of known keys, for one session.
class KnownHosts {
 public:
  static Result<KnownHosts> make(const std::string& lines) {
    std::string name = "/tmp/hostler-ssh.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      return tl::unexpected(errno_error("create a folder in /tmp"));
    KnownHosts out(std::move(name));
    HOSTLER_TRY(write_file(out.file(), lines, 0600));
    return out;
  }
  KnownHosts(KnownHosts&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  KnownHosts& operator=(KnownHosts&&) = delete;
  ~KnownHosts() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string file() const { return folder_ + "/known_hosts"; }

 private:
  explicit KnownHosts(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

/// While it exists, the signals of a terminal end the child and not this program, which has things
/// to do after it.
class SignalsGoToChild {
 public:
  SignalsGoToChild() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &ignore, &before_[i]);
  }
  ~SignalsGoToChild() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalsGoToChild(const SignalsGoToChild&) = delete;
  SignalsGoToChild& operator=(const SignalsGoToChild&) = delete;

  static sigset_t signals() {
    sigset_t out;
    ::sigemptyset(&out);
    for (const int number : kSignals) ::sigaddset(&out, number);
    return out;
  }

 private:
  static constexpr std::array kSignals{SIGINT, SIGQUIT, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

Result<pid_t> start(const std::vector<std::string>& words) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (auto& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  const sigset_t signals = SignalsGoToChild::signals();
  ::posix_spawnattr_setsigdefault(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (failed == 0) return child;
  errno = failed;
  return tl::unexpected(errno_error("start ssh (is the client of OpenSSH installed?)"));
}

/// Its exit status; as of a shell, 128 + n after signal n.
Result<int> run(const std::vector<std::string>& words) {
  const SignalsGoToChild signals;
  const pid_t child = HOSTLER_TRY(start(words));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return tl::unexpected(errno_error("wait for ssh"));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<SshTarget> target_of(json::Value lease) {
  const std::string id = field(lease, "id"), state = field(lease, "state");
  if (state == "ended" || state == "ending")
    return fail(Errc::kConflict, id + " has ended: ask for another host (hostler lease)");
  if (state != "granted")
    return fail(Errc::kConflict,
                id + " is " + state + ": log in when it is granted (hostler why " + id + ")");
  const auto host = lease.at("host");
  SshTarget out{field(host, "user"), field(host, "address")};
  if (out.user.empty())
    return fail(Errc::kConflict, id + " has no login: reach its host " + out.host +
                                     " by the means that you have there");
  out.port = static_cast<std::uint16_t>(host.at("ssh_port").int_or(22));
  if (!host.has("jump_host")) return out;
  out.jump_host = field(host.at("jump_host"), "host");
  out.jump_port = static_cast<std::uint16_t>(host.at("jump_host").at("port").int_or(22));
  return out;
}

Result<int> log_in(Client& client, const std::string& id,
                   const std::vector<std::string>& identities,
                   const std::vector<std::string>& command) {
  const auto answer = HOSTLER_TRY(client.get(work_path(id)));
  const auto lease = answer.root();
  SshTarget target = HOSTLER_TRY(target_of(lease));
  target.identities = identities;
  std::string lines;
  if (const auto host = lease.at("host"); host.has("known_hosts"))
    for (const json::Value line : host.at("known_hosts").children())
      lines += std::string(line.text_or("")) + "\n";
  const auto known_hosts = HOSTLER_TRY(KnownHosts::make(lines));
  const auto words = HOSTLER_TRY(ssh_command(target, known_hosts.file(), command));
  const int status = HOSTLER_TRY(run(words));
  if (status == kSshFailed && !target.jump_host.empty())
    warn(id + " is reached through the jump host " + target.jump_host +
         ": you must be able to log in there, as your ssh configuration says");
  return status;
}

/// One that has ended meanwhile needs nothing.
Result<void> return_lease(Client& client, const std::string& id) {
  for (int failures = 0;;) {
    const auto done = client.post(work_path(id) + "/return", R"({"used":true})");
    if (done || done.error().code == Errc::kConflict) return {};
    if (!client.may_retry(done.error()) || !pause_before_retry(++failures))
      return tl::unexpected(done.error());
  }
}

}  // namespace

int ssh(Client& client, const std::string& id, const std::vector<std::string>& command) {
  const auto status = log_in(client, id, {}, command);
  return status ? *status : complain(status.error());
}

int ssh_and_return(Client& client, const std::string& id,
                   const std::vector<std::string>& identities) {
  if (const int failed = wait_for_grant(client, id, /*json=*/false); failed != 0) return failed;
  const SignalsGoToChild signals;  // A terminal that is closed may send more than one.
  const auto status = log_in(client, id, identities, {});
  const auto returned = return_lease(client, id);
  if (!returned)
    warn(id + " was not given back, and costs until its term ends: hostler return " + id);
  if (!status) return complain(status.error());
  return returned ? *status : complain(returned.error());
}

}  // namespace hostler::cli

#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/cli/commands.h"
#include "core/cli/end_signals.h"
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

Result<pid_t> start(const std::vector<std::string>& words) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (auto& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(stdout);  // ssh prints to the same one.
  pid_t child = -1;
  errno = ::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (errno == 0) return child;
  return tl::unexpected(errno_error("start ssh (is the client of OpenSSH installed?)"));
}

/// Its exit status; as of a shell, 128 + n after signal n. The caller has EndSignals.
Result<int> run(const std::vector<std::string>& words) {
  const pid_t child = HOSTLER_TRY(start(words));
  EndSignals::set_child(child);
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  EndSignals::end_child();
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

/// Returns the lease, or cancels it if it was not granted. Returns `status`, or the exit status of
/// the error if the lease goes on. A lease that has ended meanwhile is no error.
int end_lease(Client& client, const std::string& id, bool is_granted, int status) {
  constexpr int kFailuresMax = 5;  // After a signal, or while it waits: nobody wants to wait long.
  const std::string action = is_granted ? "return" : "cancel";
  for (int failures = 0;;) {
    const auto done = client.post(work_path(id) + "/" + action, "");
    if (done || done.error().code == Errc::kConflict) return status;
    const bool is_patient = is_granted && EndSignals::came() == 0;
    if (client.may_retry(done.error()) && (is_patient || failures < kFailuresMax) &&
        pause_before_retry(++failures))
      continue;
    const int failed = complain(done.error());
    warn(id + " goes on; to end it: 'hostler " + action + " " + id + "'");
    return failed;
  }
}

}  // namespace

int ssh(Client& client, const std::string& id, const std::vector<std::string>& command) {
  const EndSignals signals;
  const auto status = log_in(client, id, {}, command);
  return status ? *status : complain(status.error());
}

int ssh_and_return(Client& client, const std::string& id,
                   const std::vector<std::string>& identities) {
  const EndSignals signals;
  const int waited = await_grant(client, id, /*json=*/false);
  if (waited == exit_code::kNoStatus) return waited;  // It has ended.
  if (waited != exit_code::kOk) return end_lease(client, id, /*is_granted=*/false, waited);
  const auto status = log_in(client, id, identities, {});
  return end_lease(client, id, /*is_granted=*/true, status ? *status : complain(status.error()));
}

}  // namespace hostler::cli

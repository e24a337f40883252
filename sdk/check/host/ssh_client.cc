#include "sdk/check/host/ssh_client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/crypto/ssh_keys.h"
#include "sdk/check/kit_descriptors.h"

namespace hostler::check {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kSaidMax = std::size_t{64} << 10U;
constexpr Duration kRunMax = std::chrono::minutes(1);

/// A file that only this user can read, among the descriptors of the kit.
Result<UniqueFd> file_in_memory(const std::string& content) {
  UniqueFd file = kit_copy(UniqueFd(::memfd_create("driver-check", MFD_CLOEXEC)));
  if (!file || ::fchmod(file.get(), 0600) != 0)
    return tl::unexpected(errno_error("make a file in memory"));
  HOSTLER_TRY(write_all(file.get(), content, "a file in memory"));
  return file;
}

/// Under which other processes of this user find it.
std::string path_of(const UniqueFd& file) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
}

struct Said {
  std::string text;
  int status = 1;
};

/// Runs a program; its output and its errors are one text.
Said run_program(std::vector<std::string> words) {
  std::array<int, 2> ends{-1, -1};
  Said said;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return said;
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, writing.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, writing.get(), STDERR_FILENO);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int problem =
      ::posix_spawnp(&child, words[0].c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  writing.reset();
  if (problem != 0) return said;
  const auto until = steady_clock::now() + kRunMax;
  std::array<char, 4096> block{};
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
    pollfd polled{reading.get(), POLLIN, 0};
    if (left <= 0 || ::poll(&polled, 1, static_cast<int>(left)) == 0) {
      (void)::kill(child, SIGKILL);
      break;
    }
    const ssize_t n = ::read(reading.get(), block.data(), block.size());
    if (n <= 0) break;
    if (said.text.size() < kSaidMax) said.text.append(block.data(), static_cast<std::size_t>(n));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  said.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  return said;
}

}  // namespace

Result<SshClient> SshClient::make() {
  if (run_program({"ssh", "-V"}).status != 0)
    return fail(Errc::kNotFound, "there is no program ssh: install openssh-client");
  const auto key = crypto::make_ed25519_key("driver-check");
  return SshClient(HOSTLER_TRY(file_in_memory(key.private_key)), key.public_key);
}

SshClient::SshClient(UniqueFd key, std::string public_key)
    : key_(std::move(key)), public_key_(std::move(public_key)) {}

Result<std::string> SshClient::run(const Target& target, const std::string& command) const {
  const bool is_known = !target.host_key.empty();
  const auto known =
      HOSTLER_TRY(file_in_memory(is_known ? "driver-check " + target.host_key + "\n" : ""));
  const std::string who = (target.user.empty() ? "root" : target.user) + "@" + target.address;
  const auto said = run_program({"ssh",
                                 "-F",
                                 "/dev/null",
                                 "-i",
                                 path_of(key_),
                                 "-p",
                                 std::to_string(target.port),
                                 "-o",
                                 "BatchMode=yes",
                                 "-o",
                                 "IdentitiesOnly=yes",
                                 "-o",
                                 "ConnectTimeout=10",
                                 "-o",
                                 "LogLevel=ERROR",
                                 "-o",
                                 "HostKeyAlias=driver-check",
                                 "-o",
                                 std::string("StrictHostKeyChecking=") + (is_known ? "yes" : "no"),
                                 "-o",
                                 "UserKnownHostsFile=" + path_of(known),
                                 who,
                                 "--",
                                 command});
  if (said.status == 0) return said.text;
  return fail(Errc::kUnavailable, "ssh to " + who + ": " + printable(said.text, 200));
}

Result<std::string> SshClient::scan(const Target& target) const {
  const auto said = run_program({"ssh-keyscan", "-T", "10", "-t", "ed25519", "-p",
                                 std::to_string(target.port), target.address});
  const auto at = said.text.find("ssh-ed25519 ");
  if (at == std::string::npos)
    return fail(Errc::kUnavailable, target.address + " shows no host key yet");
  return said.text.substr(at, said.text.find_first_of("\r\n", at) - at);
}

}  // namespace hostler::check

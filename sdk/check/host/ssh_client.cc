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

/// What the files of known hosts call each server: keys are of machines, not of addresses.
const std::string kAlias = "driver-check";

/// The words of ssh for a login with these keys; `trust`: StrictHostKeyChecking.
std::vector<std::string> options(const std::vector<UniqueFd>& keys, const std::string& trust,
                                 const UniqueFd& known, int port) {
  std::vector<std::string> out{"ssh", "-F", "/dev/null", "-p", std::to_string(port)};
  for (const auto& key : keys) out.insert(out.end(), {"-i", path_of(key)});
  for (const std::string& option :
       {std::string("BatchMode=yes"), std::string("IdentitiesOnly=yes"),
        std::string("ConnectTimeout=10"), std::string("LogLevel=ERROR"), "HostKeyAlias=" + kAlias,
        "StrictHostKeyChecking=" + trust, "UserKnownHostsFile=" + path_of(known)})
    out.insert(out.end(), {"-o", option});
  return out;
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

std::string user_of(const SshClient::Target& target) {
  return target.user.empty() ? "root" : target.user;
}

}  // namespace

Result<SshClient> SshClient::make(const std::optional<Site>& site) {
  if (run_program({"ssh", "-V"}).status != 0)
    return fail(Errc::kNotFound, "there is no program ssh: install openssh-client");
  SshClient out;
  if (site)
    for (const auto& key : site->user_keys)
      out.keys_.push_back(HOSTLER_TRY(file_in_memory(key.private_key)));
  if (out.keys_.empty()) {
    const auto key = crypto::make_ed25519_key("driver-check");
    out.keys_.push_back(HOSTLER_TRY(file_in_memory(key.private_key)));
    out.public_key_ = key.public_key;
  }
  if (site && site->proxy) HOSTLER_TRY(out.go_through(*site->proxy));
  return out;
}

Result<void> SshClient::go_through(const config::Proxy& proxy) {
  for (const auto& key : proxy.user_keys)
    proxy_keys_.push_back(HOSTLER_TRY(file_in_memory(key.private_key)));
  proxy_known_ = HOSTLER_TRY(file_in_memory(kAlias + (" " + proxy.host_key) + "\n"));
  auto words = options(proxy_keys_.empty() ? keys_ : proxy_keys_, "yes", proxy_known_, proxy.port);
  words.insert(words.end(), {"-W", "[%h]:%p", "-l", proxy.user, "--", proxy.host});
  proxy_command_ = "ProxyCommand=";
  for (const auto& word : words) proxy_command_ += "'" + word + "' ";
  return {};
}

SshClient::Words SshClient::to(const Target& target, const std::string& trust,
                               const UniqueFd& known) const {
  auto words = options(keys_, trust, known, target.port);
  if (!proxy_command_.empty()) words.insert(words.end(), {"-o", proxy_command_});
  words.insert(words.end(), {"-l", user_of(target), "--", target.address});
  return words;
}

Result<std::string> SshClient::run(const Target& target, const std::string& command) const {
  const bool is_known = !target.host_key.empty();
  const auto known =
      HOSTLER_TRY(file_in_memory(is_known ? kAlias + (" " + target.host_key) + "\n" : ""));
  auto words = to(target, is_known ? "yes" : "no", known);
  words.push_back(command);
  const auto said = run_program(std::move(words));
  if (said.status == 0) return said.text;
  return fail(Errc::kUnavailable, "ssh to " + user_of(target) + "@" + target.address + ": " +
                                      printable(said.text, 200));
}

Result<std::string> SshClient::scan(const Target& target) const {
  const auto known = HOSTLER_TRY(file_in_memory(""));
  auto words = to(target, "accept-new", known);
  words.insert(words.begin() + 1, {"-o", "HostKeyAlgorithms=ssh-ed25519"});
  words.emplace_back("true");
  (void)run_program(std::move(words));
  const std::string said = HOSTLER_TRY(read_file(path_of(known), kSaidMax));
  const auto at = said.find("ssh-ed25519 ");
  if (at == std::string::npos)
    return fail(Errc::kUnavailable, target.address + " shows no host key yet");
  return said.substr(at, said.find_first_of("\r\n", at) - at);
}

}  // namespace hostler::check

#include "tests/integration/ssh/sshd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <stdexcept>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/crypto/ssh_keys.h"

namespace hostler::test {
namespace {

constexpr const char* kSshd = "/usr/sbin/sshd";

void put(const std::filesystem::path& path, std::string_view text, unsigned mode) {
  if (!write_file(path, text, mode)) throw std::runtime_error("write " + path.string());
}

/// A free port; sshd binds it with SO_REUSEADDR a moment later.
std::uint16_t free_port(const std::string& address) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  ::inet_pton(AF_INET, address.c_str(), &at.sin_addr);
  socklen_t size = sizeof(at);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error("no free port");
  return ntohs(at.sin_port);
}

/// The child processes of `parent`.
std::vector<pid_t> children(pid_t parent) {
  std::vector<pid_t> out;
  const std::string pid = std::to_string(parent);
  const auto text = read_file("/proc/" + pid + "/task/" + pid + "/children", 1U << 20U);
  if (!text) return out;
  for (const char* at = text->c_str(); *at != '\0';) {
    char* end = nullptr;
    const long child = std::strtol(at, &end, 10);
    if (end == at) break;
    out.push_back(static_cast<pid_t>(child));
    at = end;
  }
  return out;
}

void kill_tree(pid_t pid) {
  ::kill(pid, SIGSTOP);
  for (const pid_t child : children(pid)) kill_tree(child);
  ::kill(pid, SIGKILL);
}

}  // namespace

void kill_all_in(const std::filesystem::path& folder) {
  for (bool found = true; found;) {
    found = false;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
      const auto pid = parse_u64(entry.path().filename().string());
      if (!pid) continue;
      const auto cwd = std::filesystem::read_symlink(entry.path() / "cwd", gone).string();
      if (gone || !cwd.starts_with(folder.string())) continue;
      found = ::kill(static_cast<pid_t>(*pid), SIGKILL) == 0 || found;
    }
  }
}

std::string shell(const std::string& command) {
  std::string out;
  FILE* const pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) return out;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  ::pclose(pipe);
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

void signal_all(const Sshd& sshd, int number) {
  const std::string pids = shell("pgrep -P " + std::to_string(sshd.pid()) + "; true");
  ::kill(sshd.pid(), number);
  shell("for p in " + pids + "; do kill -" + std::to_string(number) + " $p; pkill -" +
        std::to_string(number) + " -P $p; done; true");
}

Sshd::Sshd(Options options) : options_(std::move(options)) {
  if (::geteuid() == 0) ::mkdir("/run/sshd", 0755);  // the folder for its privilege separation
  const std::string d = dir().string();
  for (const std::string& type : options_.host_keys)
    shell("ssh-keygen -q -t " + type + " -N '' -C '' -f " + d + "/host_" + type);
  shell("ssh-keygen -q -t " + options_.user_key_type + " -N '' -f " + d + "/user && cp " + d +
        "/user.pub " + d + "/authorized_keys");
  std::filesystem::create_directory(dir() / "home");
  put(dir() / "home/.bashrc", options_.bashrc, 0644);
  port_ = free_port(options_.address);
  write_config();
  start();
}

Sshd::~Sshd() {
  stop();
  kill_all_in(dir());
}

void Sshd::write_config() {
  const std::string d = dir().string();
  std::string text = "ListenAddress " + options_.address + ":" + std::to_string(port_) +
                     "\nAuthorizedKeysFile " + d + "/authorized_keys\nPidFile none\n" +
                     "StrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\n" +
                     "PasswordAuthentication no\nPrintMotd no\nMaxStartups 200\n" +
                     "PerSourcePenalties no\nSetEnv HOME=" + d +
                     "/home HOSTLER_HOST_KEY=" + host_key_file().string() +
                     " HOSTLER_AGENT_DIR=" + d + "/agent\n";
  if (shell(std::string(kSshd) + " -V 2>&1 | grep -c 'OpenSSH_9.[0-7]'") == "1")
    text.erase(text.find("PerSourcePenalties"), sizeof("PerSourcePenalties no"));
  for (const std::string& type : options_.host_keys)
    text += "HostKey " + d + "/host_" + type + "\n";
  put(dir() / "sshd_config", text + options_.lines + "\n", 0644);
}

void Sshd::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const UniqueFd log(ends[0]);
  UniqueFd theirs(ends[1]);
  const std::string config = (dir() / "sshd_config").string();
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::dup2(theirs.get(), STDERR_FILENO);
    ::execl(kSshd, kSshd, "-D", "-e", "-f", config.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  theirs.reset();
  std::string log_text;
  while (log_text.find("Server listening on") == std::string::npos) {
    char c = 0;
    if (::read(log.get(), &c, 1) != 1) throw std::runtime_error("sshd did not start: " + log_text);
    log_text += c;
  }
  // From here on nobody reads the log; sshd ignores SIGPIPE.
}

void Sshd::stop() {
  if (pid_ < 0) return;
  kill_tree(pid_);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string Sshd::host_key() const {
  const auto text = read_file(host_key_file().string() + ".pub", 10000);
  return crypto::parse_public_key(*text)->line();
}

std::string Sshd::user_key() const { return *read_file(dir() / "user", 10000); }

std::string Sshd::user() { return ::getpwuid(::geteuid())->pw_name; }

}  // namespace hostler::test

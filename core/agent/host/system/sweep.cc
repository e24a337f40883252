#include "core/agent/host/system/sweep.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <vector>

#include "core/agent/host/system/os.h"
#include "core/base/cgroups.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr std::int64_t kTimeoutUs = 10'000'000;
/// Processes that survive longer than this fork faster than /proc can be read.
constexpr std::int64_t kForkStormUs = 1'000'000;

/// Maps each process to its parent; empty without /proc.
std::map<pid_t, pid_t> parents() {
  std::map<pid_t, pid_t> out;
  DIR* dir = ::opendir("/proc");
  if (dir == nullptr) return out;
  while (const dirent* entry = ::readdir(dir)) {
    const auto pid = parse_u64(entry->d_name);
    if (!pid) continue;
    // "pid (name, which may hold anything) S ppid ..."
    const std::string stat = read_small(("/proc/" + std::to_string(*pid) + "/stat").c_str(), 1024);
    const std::size_t close = stat.rfind(')');
    if (close == std::string::npos || close + 4 >= stat.size()) continue;
    const std::string rest = stat.substr(close + 4);
    if (const auto parent = parse_u64(std::string_view(rest).substr(0, rest.find(' '))))
      out[static_cast<pid_t>(*pid)] = static_cast<pid_t>(*parent);
  }
  ::closedir(dir);
  return out;
}

/// Kills all descendants of `top`. False without /proc.
bool kill_below(pid_t top) {
  const auto parent_of = parents();
  for (const auto& [pid, parent] : parent_of) {
    pid_t at = pid;
    for (int depth = 0; depth < 10000 && at != top; ++depth) {
      const auto next = parent_of.find(at);
      if (next == parent_of.end()) break;
      at = next->second;
    }
    if (at == top && pid != top) ::kill(pid, SIGKILL);
  }
  return !parent_of.empty();
}

/// Kills all processes of a user with one system call, which a process cannot escape by forking.
void kill_user(std::uint32_t uid) {
  if (uid == 0) return;
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::syscall(SYS_setresuid, uid, uid, uid) == 0) ::kill(-1, SIGKILL);
    ::_exit(0);
  }
  if (pid > 0) ::waitpid(pid, nullptr, 0);
}

void sleep_1ms() {
  const timespec pause{0, 1'000'000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

bool kill_descendants(pid_t session, std::uint32_t uid, const std::vector<std::string>& cgroups) {
  const std::int64_t begin = boottime_us();
  for (int round = 0;; ++round) {
    for (;;) {
      const pid_t dead = ::waitpid(-1, nullptr, WNOHANG);
      // A subreaper without children has no descendants.
      if (dead < 0 && errno == ECHILD) return true;
      if (dead <= 0) break;
    }
    const std::int64_t spent = boottime_us() - begin;
    if (spent > kTimeoutUs) return false;
    // Only as a last resort: another agent on this machine may use the same uid for its own job.
    if (spent > kForkStormUs) kill_user(uid);
    Cgroups::kill(cgroups);
    if (!kill_below(::getpid()) && session > 0) ::kill(-session, SIGKILL);
    if (round > 0) sleep_1ms();
  }
}

void kill_strays(const std::string& marker, std::uint32_t uid, const std::set<pid_t>& ours,
                 const std::vector<std::string>& cgroups) {
  const std::int64_t begin = boottime_us();
  const pid_t self = ::getpid();
  for (bool found = true; found && boottime_us() - begin < kTimeoutUs;) {
    found = false;
    kill_user(uid);
    Cgroups::kill(cgroups);
    for (const auto& [pid, parent] : parents()) {
      if (pid == self || pid == 1 || ours.contains(pid)) continue;
      const std::string folder = "/proc/" + std::to_string(pid);
      std::string environment(1, '\0');
      environment += read_small((folder + "/environ").c_str(), std::size_t{4} << 20);
      const bool marked = environment.find('\0' + marker + '\0') != std::string::npos;
      if (!marked && parent != self) continue;
      if (::kill(pid, SIGKILL) == 0) found = true;
      if (parent == self) ::waitpid(pid, nullptr, 0);
    }
    if (found) sleep_1ms();
  }
}

}  // namespace hostler::agent

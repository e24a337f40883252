#include "supervisor/sweep.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "folder/files.h"

namespace hostler::local {
namespace {

/// Maps each process to its parent.
std::map<pid_t, pid_t> parents() {
  std::map<pid_t, pid_t> parent_of;
  for (const std::string& name : names_in("/proc")) {
    const pid_t pid = std::atoi(name.c_str());
    if (pid <= 0) continue;
    std::optional<std::string> stat;
    try {
      stat = read_file("/proc/" + name + "/stat");
    } catch (const std::exception&) {
      continue;  // it has ended meanwhile
    }
    const auto end = stat ? stat->rfind(')') : std::string::npos;
    char state = 0;
    pid_t parent = 0;
    if (end != std::string::npos &&
        std::sscanf(stat->c_str() + end + 1, " %c %d", &state, &parent) == 2)
      parent_of[pid] = parent;
  }
  return parent_of;
}

std::vector<pid_t> descendants() {
  const std::map<pid_t, pid_t> parent_of = parents();
  const pid_t self = ::getpid();
  std::vector<pid_t> found;
  for (const auto& [pid, parent] : parent_of) {
    pid_t above = parent;
    for (std::size_t steps = 0; above > 1 && above != self && steps < parent_of.size(); ++steps) {
      const auto next = parent_of.find(above);
      above = next == parent_of.end() ? 0 : next->second;
    }
    if (above == self && pid != self) found.push_back(pid);
  }
  return found;
}

/// Stops all of them before it kills them: a stopped process cannot fork.
void freeze_descendants() {
  std::set<pid_t> stopped;
  for (int rounds = 0; rounds < 20; ++rounds) {
    bool any_new = false;
    for (const pid_t pid : descendants()) {
      if (!stopped.insert(pid).second) continue;
      ::kill(pid, SIGSTOP);
      any_new = true;
    }
    if (!any_new) return;
  }
}

}  // namespace

void signal_descendants(int signal) {
  for (const pid_t pid : descendants()) ::kill(pid, signal);
}

void sweep_descendants() {
  for (;;) {
    pid_t reaped = 0;
    while ((reaped = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0 && errno == ECHILD) return;  // without children there are no descendants
    freeze_descendants();
    signal_descendants(SIGKILL);
    ::poll(nullptr, 0, 1);  // killed processes need a moment to become zombies
  }
}

}  // namespace hostler::local

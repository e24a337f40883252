#include "strays.h"

#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>

#include "fd.h"
#include "folder/files.h"

namespace hostler::local {
namespace {

bool is_in(const std::string& path, const std::string& folder) {
  return path.compare(0, folder.size() + 1, folder + "/") == 0 || path == folder;
}

std::string target_of(const std::string& link) {
  char path[PATH_MAX];
  const ssize_t n = ::readlink(link.c_str(), path, sizeof path);
  return n < 0 ? "" : std::string(path, static_cast<std::size_t>(n));
}

bool belongs(const std::string& process, const std::string& folder) {
  if (is_in(target_of(process + "/cwd"), folder)) return true;
  const std::string environment = read_file(process + "/environ").value_or("");
  if (environment.find("HOSTLER_AGENT_DIR=" + folder + "/") != std::string::npos) return true;
  for (const std::string& fd : names_in(process + "/fd"))
    if (is_in(target_of(process + "/fd/" + fd), folder)) return true;
  return false;
}

/// Calls `act` with a pidfd for each of them. True if there were any.
template <class Act>
bool each_process(const std::string& folder, const Act& act) {
  bool any = false;
  for (const std::string& name : names_in("/proc")) {
    const pid_t pid = std::atoi(name.c_str());
    if (pid <= 1 || pid == ::getpid()) continue;
    try {
      // Open the pidfd first, so that the process that is checked is the one that is killed.
      const driver::Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      if (!handle || !belongs("/proc/" + name, folder)) continue;
      any = true;
      act(handle);
    } catch (const std::exception&) {  // of another user, or it has just ended
    }
  }
  return any;
}

}  // namespace

bool has_processes(const std::string& folder) {
  return each_process(folder, [](const driver::Fd&) {});
}

bool kill_strays(const std::string& folder) {
  return each_process(folder, [](const driver::Fd& process) {
    ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  });
}

}  // namespace hostler::local

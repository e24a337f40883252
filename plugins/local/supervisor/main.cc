// hostler-local-supervisor FOLDER GENERATION
//
// Boots the instance in FOLDER and runs until it is off. GENERATION is the number of starts that
// the caller has seen; if the instance has been started since, the program exits at once. It exits
// with 0 as soon as it holds the lock and the state file says that the instance boots; the work
// continues in a process of its own.
//
// hostler-local-supervisor --probe
//
// Exits with 0 if namespaces are allowed on this machine.

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "folder/files.h"
#include "folder/lock.h"
#include "supervisor/confinement.h"
#include "supervisor/keeper.h"

namespace hostler::local {
namespace {

void redirect_output(const InstanceFolder& folder) {
  const driver::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(null.get(), STDOUT_FILENO);
  const driver::Fd console(
      ::open(folder.console().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (console) ::dup2(console.get(), STDERR_FILENO);
}

/// Resets the limits that the daemon has set for itself: the instance starts with normal limits.
void set_usual_descriptor_limit() {
  constexpr rlim_t kUsual = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= kUsual) return;
  limit.rlim_cur = kUsual;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int supervise(const InstanceFolder& folder, std::int64_t generation) {
  std::optional<Lock> free = try_lock(folder.lock());
  // The lock is taken by another supervisor, or by the driver, which removes the folder.
  if (!free || folder.state().generation != generation) return 0;
  driver::Fd lock = free->keep();
  // Fork while the lock is held, so that it is held at all times.
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) throw_errno("make", "a pipe");
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("fork for", folder.path());
  if (pid > 0) {
    ::close(ready[1]);
    char byte = 0;
    return ::read(ready[0], &byte, 1) == 1 ? 0 : 1;
  }
  ::close(ready[0]);
  redirect_output(folder);
  Keeper keeper(folder, std::move(lock));
  for (int ready_fd = ready[1];; ready_fd = -1)
    if (!keeper.leave(keeper.run(ready_fd))) return 0;
}

}  // namespace
}  // namespace hostler::local

int main(int argc, char** argv) {
  // It was started by a descriptor, whose number is its name until now.
  (void)::prctl(PR_SET_NAME, "hostler-local-supervisor");
  if (argc == 2 && std::strcmp(argv[1], "--probe") == 0)
    return hostler::local::namespaces_work() ? 0 : 1;
  if (argc != 3 || argv[1][0] != '/') {
    std::fprintf(stderr, "usage: hostler-local-supervisor FOLDER GENERATION\n");
    return 2;
  }
  ::syscall(SYS_close_range, 3U, ~0U, 0U);  // descriptors that the caller has leaked
  hostler::local::set_usual_descriptor_limit();
  ::setsid();
  ::umask(022);
  try {
    if (::chdir("/") != 0) return 1;
    return hostler::local::supervise(hostler::local::InstanceFolder(argv[1]), std::atoll(argv[2]));
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "hostler-local-supervisor: %s\n", wrong.what());
    return 1;
  }
}

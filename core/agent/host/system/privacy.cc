#include "core/agent/host/system/privacy.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hostler::agent {
namespace {

/// Without it, root would not see the processes of jobs either.
bool may_trace_all() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  return ::geteuid() == 0 && ::syscall(SYS_capget, &header, data) == 0 &&
         (data[0].effective & (1U << CAP_SYS_PTRACE)) != 0;
}

}  // namespace

void hide_processes() {
  if (!may_trace_all() || ::unshare(CLONE_NEWNS) != 0) return;
  // Mounts of the host still appear here, and none of these there.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return;
  (void)::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2");
}

}  // namespace hostler::agent

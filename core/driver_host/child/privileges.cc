#include "core/driver_host/child/privileges.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/base/files.h"
#include "core/driver_host/wire/limits.h"

namespace hostler::driver_host {
namespace {

constexpr rlim_t kDescriptorsMax = 4096;
#if !defined(HOSTLER_SANITIZED)
constexpr rlim_t kDataMax = kMemoryMax;
#else
constexpr rlim_t kDataMax = RLIM_INFINITY;  // the sanitizers reserve terabytes
#endif
constexpr int kNiceMore = 5;

void lower(__rlimit_resource resource, rlim_t max) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return;
  limit.rlim_max = std::min(limit.rlim_max, max);
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(resource, &limit);
}

}  // namespace

void keep_memory_private() {
  lower(RLIMIT_CORE, 0);
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void limit_resources() {
  lower(RLIMIT_NOFILE, kDescriptorsMax);
  // Not RLIMIT_AS: it counts addresses that a runtime reserves and does not use, too.
  lower(RLIMIT_DATA, kDataMax);
  // A driver writes no files but those in memory, and RLIMIT_DATA does not count these.
  (void)::signal(SIGXFSZ, SIG_IGN);
  lower(RLIMIT_FSIZE, kSharedPieceMax);
}

bool enter_cgroups(const std::vector<std::string>& folders) {
  return !folders.empty() && std::ranges::all_of(folders, [](const std::string& folder) {
    const UniqueFd fd(::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    return fd && ::write(fd.get(), "0", 1) == 1;
  });
}

bool give_way() {
  const int of_host = ::getpriority(PRIO_PROCESS, 0);
  return ::setpriority(PRIO_PROCESS, 0, of_host + kNiceMore) == 0;
}

Result<void> drop_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return tl::unexpected(errno_error("give up privileges from programs"));
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> have{};
  // Who has none need not drop them: the filter of a service may refuse that call.
  if (::syscall(SYS_capget, &head, have.data()) == 0 &&
      std::all_of(have.begin(), have.end(), [](const auto& data) {
        return data.effective == 0 && data.permitted == 0 && data.inheritable == 0;
      }))
    return {};
  if (::syscall(SYS_capset, &head, none.data()) != 0)
    return tl::unexpected(errno_error(
        "give up capabilities (a system call filter around hostlerd must allow capset)"));
  return {};
}

}  // namespace hostler::driver_host

// Runs hostler-driver-host as the service does: without capabilities, and under a filter that
// allows only the system calls that the file `allowed` beside this program names, one a line. The
// others fail with EPERM.
#include <linux/capability.h>
#include <seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

int main(int, char** argv) {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (::syscall(SYS_capset, &head, none.data()) != 0) return 1;
  const std::filesystem::path program = argv[0];
  std::ifstream allowed(program.parent_path() / "allowed");
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  for (std::string name; std::getline(allowed, name);)
    if (const int call = seccomp_syscall_resolve_name(name.c_str()); call != __NR_SCMP_ERROR)
      (void)seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);  // not each is of this architecture
  if (seccomp_load(filter) != 0) return 1;                      // no new privileges, too
  ::execv(HOSTLER_DRIVER_HOST, argv);
  return 1;
}

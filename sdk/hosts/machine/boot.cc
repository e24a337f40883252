#include "sdk/hosts/machine/boot.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "sdk/hosts/machine/view.h"
#include "sdk/hosts/system/failure.h"
#include "sdk/hosts/system/files.h"
#include "sdk/hosts/system/program.h"

namespace hostler::machines {
namespace {

constexpr const char* kHostKey = "/etc/ssh/ssh_host_ed25519_key";
constexpr const char* kSshdConfig = "/etc/ssh/sshd_config";
constexpr const char* kUserData = "/run/user-data";

void set_up_network(const BootPlan& plan) {
  if (!plan.bridge) return;
  run_program({"ip", "-batch", "-"}, "link set lo up\nlink set eth0 up\naddr add " + plan.address +
                                         "/24 dev eth0\nroute add default via " + kBridgeAddresses +
                                         "1\n");
}

std::string boot_id() {
  std::string id = read_file("/proc/sys/kernel/random/uuid", 64);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::string sshd_config(const BootPlan& plan) {
  return "Port " + std::to_string(plan.port) + "\nListenAddress " + plan.address + "\nHostKey " +
         kHostKey +
         "\nAuthorizedKeysFile .ssh/authorized_keys\n"
         "KbdInteractiveAuthentication no\n"
         "LogLevel INFO\n"
         "MaxStartups 100\n"
         "PasswordAuthentication no\n"
         "PermitRootLogin prohibit-password\n"
         "PidFile /run/sshd.pid\n"
         "PrintLastLog no\n"
         "PrintMotd no\n"
         // These machines share RAM and boot id with this system; the agent asks for its own.
         "SetEnv HOSTLER_RAM=0 HOSTLER_BOOT_ID=" +
         boot_id() +
         "\nStrictModes no\n"
         "Subsystem sftp internal-sftp\n"
         "UseDNS no\n"
         "UsePAM no\n";
}

void write_files(const BootPlan& plan) {
  const std::string home = plan.account.home();
  make_folder("/run/sshd", 0755);
  make_folder("/run/lock", 01777);
  make_folder(home, 0700);
  make_folder(home + "/.ssh", 0700);
  std::string keys;
  for (const std::string& line : plan.spec.authorized_keys) keys += line + "\n";
  write_file(home + "/.ssh/authorized_keys", keys, 0600);
  write_file(kHostKey, plan.host_key, 0600);
  write_file(std::string(kHostKey) + ".pub", plan.host_key_public + "\n", 0644);
  write_file(kSshdConfig, sshd_config(plan), 0644);
  if (!plan.spec.user_data.empty()) write_file(kUserData, plan.spec.user_data, 0700);
}

/// Root of a machine is root in few things: it mounts nothing, loads no modules, and sets no clock.
/// For an ordinary user all capabilities of the user namespace end.
void drop_capabilities(const BootPlan& plan) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (plan.account.is_root()) {
    std::uint64_t kept = 0;
    for (const int one : {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID,
                          CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_NET_BIND_SERVICE,
                          CAP_NET_RAW, CAP_SYS_CHROOT, CAP_SYS_NICE, CAP_AUDIT_WRITE, CAP_SETFCAP})
      kept |= std::uint64_t{1} << one;
    if (plan.bridge) kept |= std::uint64_t{1} << CAP_NET_ADMIN;  // its network is its own
    for (int one = 0; one <= CAP_LAST_CAP; ++one)
      if ((kept >> one & 1) == 0) ::prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
    data[0].effective = data[0].permitted = static_cast<std::uint32_t>(kept);
    data[1].effective = data[1].permitted = static_cast<std::uint32_t>(kept >> 32);
  }
  if (::syscall(SYS_capset, &header, data) != 0) fail_errno("give up capabilities");
}

pid_t start_sshd() {
  return start_program({"/usr/sbin/sshd", "-D", "-e", "-f", kSshdConfig}, {kPath});
}

/// Reaps whoever has no parent left, and starts sshd again when it ends. Returns when it ends too
/// often.
int look_after(const BootPlan& plan) {
  constexpr int kStartsMax = 6;
  constexpr timespec kPause{0, 200'000'000};
  const pid_t user_data =
      plan.spec.user_data.empty()
          ? -1
          : start_program({kUserData}, {kPath, "HOME=" + plan.account.home(),
                                        "USER=" + plan.account.name, "LC_ALL=C.UTF-8"});
  int starts = 1;
  pid_t sshd = start_sshd();
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, 0);
    if (pid < 0 && errno != EINTR) return 1;
    if (pid == user_data && pid > 0) {
      ::unlink(kUserData);
      std::printf("hostler-hosts: user data has ended with status %d\n",
                  WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
      std::fflush(stdout);
    }
    if (pid != sshd) continue;
    if (starts++ == kStartsMax) return 1;
    ::nanosleep(&kPause, nullptr);
    sshd = start_sshd();
  }
}

}  // namespace

int boot_machine(const BootPlan& plan, int go) {
  char byte = 0;
  if (::read(go, &byte, 1) != 1) return 1;  // the keeper has died
  ::close(go);
  try {
    if (::sethostname(plan.id.data(), plan.id.size()) != 0) fail_errno("set the host name");
    set_up_network(plan);
    build_view(plan.account);
    if (::chdir("/") != 0) fail_errno("enter /");
    write_files(plan);
    drop_capabilities(plan);
    return look_after(plan);
  } catch (const Failure& failure) {
    std::printf("hostler-hosts: %s\n", failure.what());
    std::fflush(stdout);
    return 1;
  }
}

}  // namespace hostler::machines

#include "core/driver_host/child/call_filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "core/base/files.h"
#include "core/driver_host/child/allowed_calls.h"
#include "core/driver_host/wire/limits.h"

namespace hostler::driver_host {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr unsigned kNumbersEnd = 0x40000000;  // of the calls of the x32 ABI
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr unsigned kNumbersEnd = 0x40000000;
#else
#error "the numbers of this architecture's system calls are not known here"
#endif

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t answer(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

/// A program of the kernel's filter. One call's block always ends with a return, so that blocks
/// stand one after another.
class Program {
 public:
  using Numbers = std::initializer_list<std::uint64_t>;

  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void ret(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  void skip_next_if_equal(std::uint64_t value) { add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0); }
  void skip_next_if_at_least(std::uint64_t value) { add(BPF_JMP | BPF_JGE | BPF_K, value, 1, 0); }
  void skip_next_if_less(std::uint64_t value) { add(BPF_JMP | BPF_JGE | BPF_K, value, 0, 1); }

  /// `call` is allowed if `mask` of its argument leaves one of `values`; else it fails with
  /// `error`.
  void allow_if(long call, unsigned argument, Numbers values, int error = EPERM,
                std::uint32_t mask = ~0U) {
    block(call, argument, mask, values, kAllow, answer(error));
  }
  /// The contrary.
  void refuse_if(long call, unsigned argument, Numbers values, std::uint32_t mask = ~0U) {
    block(call, argument, mask, values, answer(EPERM), kAllow);
  }
  /// `call` is allowed if this argument is a null pointer.
  void allow_if_null(long call, unsigned argument) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint64_t>(call), 0, 6);
    load(low_half(argument));
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
    load(low_half(argument) + 4);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    ret(kAllow);
    ret(answer(EPERM));
  }

  /// `call` is refused unless this argument is one of `values`; what follows decides the rest.
  void refuse_unless(long call, unsigned argument, Numbers values) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint64_t>(call), 0, values.size() + 3);
    load(low_half(argument));
    std::size_t left = values.size();
    for (const auto value : values) add(BPF_JMP | BPF_JEQ | BPF_K, value, left--, 0);
    ret(answer(EPERM));
    load(offsetof(seccomp_data, nr));
  }
  /// `call` is refused if `mask` leaves something of `flags`, and `size` is above `max`.
  void refuse_above(long call, unsigned size, std::uint32_t max, unsigned flags,
                    std::uint32_t mask) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint64_t>(call), 0, 8);
    load(low_half(flags));
    add(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 5);
    load(low_half(size) + 4);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2);
    load(low_half(size));
    add(BPF_JMP | BPF_JGT | BPF_K, max, 0, 1);
    ret(answer(ENOMEM));
    ret(kAllow);
  }

  [[nodiscard]] sock_fprog get() {
    return {static_cast<unsigned short>(code_.size()), code_.data()};
  }

 private:
  static std::size_t low_half(unsigned argument) {  // both architectures are little-endian
    return offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t);
  }
  void add(unsigned code, std::uint64_t k, std::size_t if_true = 0, std::size_t if_false = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true),
                     static_cast<std::uint8_t>(if_false), static_cast<std::uint32_t>(k)});
  }
  void block(long call, unsigned argument, std::uint32_t mask, Numbers values, std::uint32_t action,
             std::uint32_t otherwise) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint64_t>(call), 0, values.size() + 4);
    load(low_half(argument));
    add(BPF_ALU | BPF_AND | BPF_K, mask);
    std::size_t left = values.size();
    for (const auto value : values) add(BPF_JMP | BPF_JEQ | BPF_K, value, left--, 0);
    ret(otherwise);
    ret(action);
  }

  std::vector<sock_filter> code_;
};

/// A file that is only read has states that all who use it share: leases and locks, for which
/// others wait, and attributes. So what is not named here is refused.
void add_uses_of_descriptors(Program& program) {
  program.allow_if(SYS_fcntl, 1,
                   {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETOWN,
                    F_GETPIPE_SZ, F_SETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS});
  // As where a file has no such request: whoever tries one goes on without it. FIONREAD is SIOCINQ
  // too, and TIOCOUTQ is SIOCOUTQ.
  program.allow_if(
      SYS_ioctl, 1,
      {FIOCLEX, FIONCLEX, FIONBIO, FIONREAD, TIOCOUTQ, SIOCATMARK, TCGETS, TIOCGWINSZ, SIOCGIFCONF,
       SIOCGIFNAME, SIOCGIFINDEX, SIOCGIFFLAGS, SIOCGIFADDR, SIOCGIFHWADDR, SIOCGIFMTU,
       SIOCGIFMETRIC, SIOCGIFNETMASK, SIOCGIFBRDADDR, SIOCGIFDSTADDR},
      ENOTTY);
}

/// Calls that are allowed with some arguments.
void add_conditions(Program& program) {
  constexpr unsigned kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                   CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  // Threads. A process would outlive this one, with its sockets.
  program.allow_if(SYS_clone, 0, {CLONE_THREAD}, EPERM, CLONE_THREAD | kNamespaces);
  // No unix sockets: whoever connects to hostlerd's as its user is an admin there.
  program.allow_if(SYS_socket, 0, {AF_INET, AF_INET6, AF_NETLINK}, EAFNOSUPPORT);
  program.allow_if(SYS_socketpair, 1, {SOCK_STREAM}, EPERM, 0xf);
  // No signals to hostlerd and its other children.
  const auto self = static_cast<std::uint64_t>(::getpid());
  for (const long call : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo})
    program.allow_if(call, 0, {self});
  // It goes on dying with hostlerd, and its memory stays private.
  program.allow_if(
      SYS_prctl, 0,
      {PR_SET_NAME, PR_GET_NAME, PR_SET_VMA, PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS,
       PR_SET_SECCOMP, PR_GET_SECCOMP, PR_GET_DUMPABLE, PR_GET_PDEATHSIG, PR_CAPBSET_READ,
       PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_SET_THP_DISABLE, PR_GET_THP_DISABLE});
  // Limits are read, of this process; and hostlerd's threads run where they like.
  program.refuse_unless(SYS_prlimit64, 0, {0, self});
  program.allow_if_null(SYS_prlimit64, 2);
  program.allow_if(SYS_sched_setaffinity, 0, {0, self});
  // RLIMIT_DATA does not count these, and only some of them are seen each second.
  program.refuse_above(SYS_mmap, 1, kSharedPieceMax, 3, MAP_SHARED);
  // Reading and truncating: rules for files of before Linux 6.2 see only the reading.
  program.refuse_if(SYS_openat, 2, {O_TRUNC}, O_TRUNC | O_ACCMODE);
#ifdef SYS_open
  program.refuse_if(SYS_open, 1, {O_TRUNC}, O_TRUNC | O_ACCMODE);
#endif
}

/// By ranges of numbers with the same answer.
void add_numbers(Program& program) {
  std::array<std::uint32_t, kLastKnownCall + 2> answers{};
  answers.fill(answer(EPERM));
  for (const auto call : kAllowedCalls) answers.at(static_cast<std::size_t>(call)) = kAllow;
  for (const auto call : kMissingCalls) answers.at(static_cast<std::size_t>(call)) = answer(ENOSYS);
  answers.back() = answer(ENOSYS);
  for (std::size_t call = 1; call < answers.size(); ++call) {
    if (answers.at(call) == answers.at(call - 1)) continue;
    program.skip_next_if_at_least(call);
    program.ret(answers.at(call - 1));
  }
  program.ret(answers.back());
}

}  // namespace

Result<void> restrict_calls() {
  Program program;
  program.load(offsetof(seccomp_data, arch));
  program.skip_next_if_equal(kArchitecture);
  program.ret(answer(ENOSYS));
  program.load(offsetof(seccomp_data, nr));
  program.skip_next_if_less(kNumbersEnd);
  program.ret(answer(ENOSYS));
  add_uses_of_descriptors(program);
  add_conditions(program);
  add_numbers(program);
  const sock_fprog filter = program.get();
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0) return {};
  if (errno == EPERM)
    return fail(Errc::kUnavailable,
                "seccomp is refused: a system call filter around hostlerd must allow it");
  auto error = errno_error("filter system calls by seccomp", Errc::kUnavailable);
  return tl::unexpected(std::move(error));
}

}  // namespace hostler::driver_host

#include "core/agent/host/system/device_program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>

#include "core/agent/host/system/os.h"

namespace hostler::agent {
namespace {

constexpr std::uint32_t kProgramsMax = 64;  ///< That the kernel takes on one cgroup.

// ---- instructions ------------------------------------------------------------------------------

enum Register : std::uint8_t { kResult = 0, kContext = 1, kAccess = 2, kMajor = 3, kMinor = 4 };

bpf_insn instruction(int code, Register to, Register from, std::size_t offset,
                     std::uint32_t value) {
  bpf_insn out{};
  out.code = static_cast<std::uint8_t>(code);
  out.dst_reg = to & 0xfU;
  out.src_reg = from & 0xfU;
  out.off = static_cast<std::int16_t>(offset);
  out.imm = static_cast<std::int32_t>(value);
  return out;
}

bpf_insn load(Register to, std::size_t offset) {
  return instruction(BPF_LDX | BPF_W | BPF_MEM, to, kContext, offset, 0);
}
/// Skips so many instructions.
bpf_insn skip(std::size_t count) {
  return instruction(BPF_JMP | BPF_JA, kResult, kResult, count, 0);
}
/// Skips so many instructions if the register has this value, or (BPF_JNE) if it has not.
bpf_insn skip_if(int comparison, Register what, std::uint32_t value, std::size_t count) {
  return instruction(BPF_JMP | comparison | BPF_K, what, kResult, count, value);
}
void give_back_result(std::vector<bpf_insn>& out, std::uint32_t value) {
  out.push_back(instruction(BPF_ALU64 | BPF_MOV | BPF_K, kResult, kResult, 0, value));
  out.push_back(instruction(BPF_JMP | BPF_EXIT, kResult, kResult, 0, 0));
}

// ---- the system call ---------------------------------------------------------------------------

int bpf(bpf_cmd command, bpf_attr& attr) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attr, sizeof attr));
}

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

/// Until Linux 5.11, the memory of all programs of a user counts against this limit.
class NoMemoryLimit {
 public:
  NoMemoryLimit() {
    constexpr rlimit kNone{RLIM_INFINITY, RLIM_INFINITY};
    changed_ =
        ::getrlimit(RLIMIT_MEMLOCK, &before_) == 0 && ::setrlimit(RLIMIT_MEMLOCK, &kNone) == 0;
  }
  ~NoMemoryLimit() {
    if (changed_) (void)::setrlimit(RLIMIT_MEMLOCK, &before_);
  }
  NoMemoryLimit(const NoMemoryLimit&) = delete;
  NoMemoryLimit& operator=(const NoMemoryLimit&) = delete;

 private:
  rlimit before_{};
  bool changed_ = false;
};

Result<UniqueFd> load_program(const std::vector<bpf_insn>& program) {
  const NoMemoryLimit unlimited;
  bpf_attr attr{};
  attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attr.insns = address_of(program.data());
  attr.insn_cnt = static_cast<std::uint32_t>(program.size());
  attr.license = address_of("Apache-2.0");
  UniqueFd out(bpf(BPF_PROG_LOAD, attr));
  if (!out) return tl::unexpected(os_error("load a device program"));
  (void)::fcntl(out.get(), F_SETFD, FD_CLOEXEC);
  return out;
}

/// The ids of the programs on the cgroup itself.
Result<std::vector<std::uint32_t>> programs_of(int cgroup, const std::string& folder) {
  std::vector<std::uint32_t> out(kProgramsMax);
  bpf_attr attr{};
  attr.query.target_fd = static_cast<std::uint32_t>(cgroup);
  attr.query.attach_type = BPF_CGROUP_DEVICE;
  attr.query.prog_ids = address_of(out.data());
  attr.query.prog_cnt = kProgramsMax;
  if (bpf(BPF_PROG_QUERY, attr) != 0)
    return tl::unexpected(os_error("read the device programs of " + folder));
  out.resize(attr.query.prog_cnt);
  return out;
}

Result<void> change(bpf_cmd command, int cgroup, int program, const std::string& folder) {
  bpf_attr attr{};
  attr.target_fd = static_cast<std::uint32_t>(cgroup);
  attr.attach_bpf_fd = static_cast<std::uint32_t>(program);
  attr.attach_type = BPF_CGROUP_DEVICE;
  if (command == BPF_PROG_ATTACH) attr.attach_flags = BPF_F_ALLOW_MULTI;
  if (bpf(command, attr) == 0) return {};
  return tl::unexpected(os_error("change the device programs of " + folder));
}

}  // namespace

// The kernel calls it with a bpf_cgroup_dev_ctx. One test of the major number for all devices that
// have it keeps the paths through the program few, as the kernel follows each of them.
std::vector<bpf_insn> device_program(const std::set<DeviceNumber>& denied) {
  constexpr std::uint32_t kTypeMask = 0xffff;
  std::vector<bpf_insn> out;
  if (denied.empty()) {
    give_back_result(out, 1);
    return out;
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> minors_of;
  for (const DeviceNumber& number : denied) minors_of[number.major].push_back(number.minor);
  const std::size_t allow = 5 + 2 * minors_of.size() + denied.size();
  const std::size_t deny = allow + 2;
  const auto up_to = [&](std::size_t target) { return target - out.size() - 1; };

  out.push_back(load(kAccess, offsetof(bpf_cgroup_dev_ctx, access_type)));
  out.push_back(instruction(BPF_ALU64 | BPF_AND | BPF_K, kAccess, kResult, 0, kTypeMask));
  out.push_back(skip_if(BPF_JNE, kAccess, BPF_DEVCG_DEV_CHAR, up_to(allow)));
  out.push_back(load(kMajor, offsetof(bpf_cgroup_dev_ctx, major)));
  out.push_back(load(kMinor, offsetof(bpf_cgroup_dev_ctx, minor)));
  for (const auto& [major, minors] : minors_of) {
    out.push_back(skip_if(BPF_JNE, kMajor, major, minors.size() + 1));
    for (const std::uint32_t minor : minors)
      out.push_back(skip_if(BPF_JEQ, kMinor, minor, up_to(deny)));
    out.push_back(skip(up_to(allow)));
  }
  give_back_result(out, 1);
  give_back_result(out, 0);
  return out;
}

Result<void> set_device_program(const std::string& folder, const std::set<DeviceNumber>& denied) {
  const UniqueFd cgroup(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!cgroup) return tl::unexpected(os_error("open " + folder));
  const UniqueFd program = HOSTLER_TRY(load_program(device_program(denied)));
  const auto older = HOSTLER_TRY(programs_of(cgroup.get(), folder));
  HOSTLER_TRY(change(BPF_PROG_ATTACH, cgroup.get(), program.get(), folder));
  for (const std::uint32_t id : older) {
    bpf_attr attr{};
    attr.prog_id = id;
    const UniqueFd old(bpf(BPF_PROG_GET_FD_BY_ID, attr));
    if (!old) return tl::unexpected(os_error("find an earlier device program of " + folder));
    HOSTLER_TRY(change(BPF_PROG_DETACH, cgroup.get(), old.get(), folder));
  }
  return {};
}

}  // namespace hostler::agent

#include "core/agent/host/system/device_program.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hostler::agent {
namespace {

/// Runs a program as the kernel does: the few instructions that it may have, all jumps forward.
bool allows(const std::vector<bpf_insn>& program, const bpf_cgroup_dev_ctx& context) {
  std::uint64_t registers[11] = {};
  for (std::size_t at = 0; at < program.size(); ++at) {
    const bpf_insn& one = program[at];
    std::uint64_t& to = registers[one.dst_reg];
    const auto value = static_cast<std::uint64_t>(one.imm);
    std::uint32_t word = 0;
    switch (one.code) {
      case BPF_LDX | BPF_W | BPF_MEM:
        std::memcpy(&word, reinterpret_cast<const char*>(&context) + one.off, sizeof word);
        to = word;
        continue;
      case BPF_ALU64 | BPF_AND | BPF_K:
        to &= value;
        continue;
      case BPF_ALU64 | BPF_MOV | BPF_K:
        to = value;
        continue;
      case BPF_JMP | BPF_JNE | BPF_K:
        at += to != value ? static_cast<std::size_t>(one.off) : 0;
        continue;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += to == value ? static_cast<std::size_t>(one.off) : 0;
        continue;
      case BPF_JMP | BPF_JA:
        at += static_cast<std::size_t>(one.off);
        continue;
      case BPF_JMP | BPF_EXIT:
        return registers[0] == 1;
      default:
        ADD_FAILURE() << "the instruction " << int{one.code};
        return false;
    }
  }
  ADD_FAILURE() << "the program has no end";
  return false;
}

bpf_cgroup_dev_ctx access(std::uint32_t type, std::uint32_t how, DeviceNumber number) {
  return {(how << 16U) | type, number.major, number.minor};
}
bpf_cgroup_dev_ctx read_access(DeviceNumber number) {
  return access(BPF_DEVCG_DEV_CHAR, BPF_DEVCG_ACC_READ, number);
}

TEST(DeviceProgramTest, DeniesExactlyTheDevicesOfTheListInEveryWay) {
  const auto program = device_program({{195, 0}, {195, 2}, {226, 128}});
  for (const std::uint32_t how : {1U, 2U, 4U, 6U}) {  // making, reading, writing, both
    for (const DeviceNumber number : {DeviceNumber{195, 0}, {195, 2}, {226, 128}})
      EXPECT_FALSE(allows(program, access(BPF_DEVCG_DEV_CHAR, how, number))) << how;
    for (const DeviceNumber number : {DeviceNumber{195, 1}, {195, 128}, {226, 0}, {1, 3}, {0, 2}})
      EXPECT_TRUE(allows(program, access(BPF_DEVCG_DEV_CHAR, how, number))) << how;
  }
}

TEST(DeviceProgramTest, BlockDevicesOfTheSameNumberStayOpen) {
  const auto program = device_program({{8, 0}});
  EXPECT_TRUE(allows(program, access(BPF_DEVCG_DEV_BLOCK, BPF_DEVCG_ACC_READ, {8, 0})));
  EXPECT_FALSE(allows(program, read_access({8, 0})));
}

TEST(DeviceProgramTest, WithoutDevicesAllowsAll) {
  const auto program = device_program({});
  EXPECT_EQ(program.size(), 2U) << "kernels refuse what is never reached";
  EXPECT_TRUE(allows(program, read_access({195, 0})));
}

TEST(DeviceProgramTest, AThousandDevicesOfAsManyMajorsFitIntoTheProgramOfAnOldKernel) {
  std::set<DeviceNumber> denied;
  for (std::uint32_t i = 0; i < 1024; ++i) denied.insert({i, 0xfffff - i});
  const auto program = device_program(denied);
  EXPECT_LE(program.size(), std::size_t{BPF_MAXINSNS});
  for (const DeviceNumber& number : denied) EXPECT_FALSE(allows(program, read_access(number)));
  EXPECT_TRUE(allows(program, read_access({1024, 0xfffff})));
  EXPECT_TRUE(allows(program, read_access({7, 0xfffff})));
}

TEST(DeviceProgramTest, HasTheseBytes) {
  const auto program = device_program({{1, 5}});
  const std::uint64_t bytes[] = {
      0x0000000000001261,  // r2 = access_type
      0x0000ffff00000257,  // r2 &= 0xffff
      0x0000000200050255,  // if r2 != BPF_DEVCG_DEV_CHAR goto allow
      0x0000000000041361,  // r3 = major
      0x0000000000081461,  // r4 = minor
      0x0000000100020355,  // if r3 != 1 goto allow
      0x0000000500030415,  // if r4 == 5 goto deny
      0x0000000000000005,  // goto allow
      0x00000001000000b7,  // allow: r0 = 1
      0x0000000000000095,  // exit
      0x00000000000000b7,  // deny: r0 = 0
      0x0000000000000095,  // exit
  };
  ASSERT_EQ(program.size() * sizeof(bpf_insn), sizeof bytes);
  EXPECT_EQ(std::memcmp(program.data(), bytes, sizeof bytes), 0);
}

}  // namespace
}  // namespace hostler::agent

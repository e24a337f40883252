#pragma once

#include <linux/bpf.h>

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace hostler::agent {

/// The number of a character device.
struct DeviceNumber {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  friend auto operator<=>(const DeviceNumber&, const DeviceNumber&) = default;
};

/// The instructions of a program for a cgroup that denies its processes to open these character
/// devices and to make files of them, and allows all others. At most 4,096, which is what kernels
/// before 5.2 take, for up to 1,024 devices. Pure.
std::vector<bpf_insn> device_program(const std::set<DeviceNumber>& denied);

/// Puts such a program on the cgroup of v2 at this folder, in the place of those that were put
/// there before; at no moment there is none. It stays until the folder is removed, and counts
/// together with programs of others on the cgroups above. Needs root of the first user namespace,
/// and Linux 4.15.
Result<void> set_device_program(const std::string& folder, const std::set<DeviceNumber>& denied);

}  // namespace hostler::agent

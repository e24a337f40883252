#pragma once

#include <hostler/driver.h>

#include <cstdint>
#include <map>
#include <string>

#include "answer.h"

namespace hostler::lxd {

/// A device of LXD, {"type": "disk", "path": "/", "pool": "default"}, and several by their names.
using Device = std::map<std::string, std::string>;
using Devices = std::map<std::string, Device>;

/// What a create asks for beside the devices of its profiles.
struct DeviceWishes {
  bool has_root = false;         ///< It says something of the root disk.
  std::uint64_t root_bytes = 0;  ///< 0: as the profiles say.
  std::string root_pool;         ///< Empty: as the profiles say.
  std::uint32_t gpus = 0;

  /// Whether they cannot be fulfilled without knowing the devices of the profiles.
  [[nodiscard]] bool need_profiles() const { return has_root || gpus != 0; }
};

/// Throws driver::Error(UNSUPPORTED) that says what to do about a disk that LXD does not have.
DeviceWishes read_wishes(const hostler_create_req& request);

/// Adds the devices of a profile as LXD shows it; they replace those of the same names.
void add_devices(const Value& profile, Devices& to);

/// The devices that a container has to have of its own, in place of those of its profiles. Throws
/// driver::Error where the profiles have no root disk or too few gpus.
Devices own_devices(const DeviceWishes& wishes, const Devices& of_profiles);

}  // namespace hostler::lxd

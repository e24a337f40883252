#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/base/cgroups.h"

namespace hostler::agent {

/// The cgroups of the slots: those that limit what an attempt uses, and the one by which the device
/// guard knows its processes. In v2 these are one folder. Beside v1, and where nothing can be
/// limited, the guard's are in a hierarchy of their own. Used by the server's one thread.
class SlotCgroups {
 public:
  using Version = Cgroups::Version;
  using Folders = Cgroups::Folders;

  /// The arguments are as those of Cgroups. `mounts`: the file that names what is mounted.
  explicit SlotCgroups(std::string root = "/sys/fs/cgroup", std::string own = "/proc/self/cgroup",
                       std::string mounts = "/proc/self/mountinfo")
      : root_(std::move(root)),
        own_(std::move(own)),
        mounts_(std::move(mounts)),
        limits_({"memory", "pids"}, root_, own_) {}

  /// `name` is the folder of the slots in each hierarchy. Without `limited` no attempt has limits.
  void open(const std::string& name, bool limited);
  /// Chooses the hierarchy of the device guard: v2, or the controller `devices` of v1. False: this
  /// host has none in which a cgroup can be made. Each call drops the choice before it.
  bool choose_devices(Version version);
  /// What limits the attempts.
  [[nodiscard]] Version limits() const { return limits_.version(); }
  [[nodiscard]] bool has_any() const { return limits() != Version::kNone || device_cgroups(); }

  /// Where the processes of an attempt go.
  struct Place {
    Folders folders;  ///< All that they enter.
    bool has_limits = false;
    std::string devices;  ///< The guard's among them; empty: it has none.
  };
  /// Creates the slot's cgroups if needed. The guard's only if `guarded`, and a choice was made.
  Place prepare(std::uint32_t slot, const CgroupLimits& limits, bool guarded);
  /// The guard's folder of a slot; empty: it has none.
  [[nodiscard]] std::string devices(std::uint32_t slot) const;

  // As those of Cgroups, for all hierarchies.
  [[nodiscard]] Folders folders(std::uint32_t slot) const;
  void adopt(std::uint32_t slot);
  void remove_idle(const std::set<std::uint32_t>& used);

 private:
  /// Those that the guard uses; null: no choice was made.
  [[nodiscard]] const Cgroups* device_cgroups() const {
    return shared_ ? &limits_ : devices_ ? &*devices_ : nullptr;
  }

  std::string root_, own_, mounts_, name_;
  Cgroups limits_;
  std::optional<Cgroups> devices_;  ///< The guard's own hierarchy.
  bool shared_ = false;             ///< The guard uses those with limits.
};

}  // namespace hostler::agent

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace hostler {

/// Limits of the processes in one cgroup. 0: none.
struct CgroupLimits {
  std::uint64_t ram_max = 0;
  std::uint32_t processes_max = 0;
  std::uint32_t cpu_weight = 0;  ///< Of v2: others have 100.
};

/// One cgroup for each slot, in cgroup v2 or in hierarchies of v1. Who has no right to make any, in
/// a container say, goes on without.
class Cgroups {
 public:
  enum class Version : std::uint8_t { kNone, kV1, kV2 };
  using Folders = std::vector<std::string>;  ///< Of one slot: one in v2, one each controller in v1.

  /// `controllers`: "memory" first, then "pids", "cpu" or both; or "devices" of v1 alone; or none,
  /// which is enough for v2 where nothing is limited. `root`: where cgroups are mounted.
  /// `own`: the file that names the cgroups of this process.
  explicit Cgroups(std::vector<std::string> controllers, std::string root = "/sys/fs/cgroup",
                   std::string own = "/proc/self/cgroup")
      : controllers_(std::move(controllers)), root_(std::move(root)), own_(std::move(own)) {}

  /// Detects which cgroups can be used. `name` is the folder of this process's slots in each
  /// hierarchy. Removes the empty cgroups that an earlier process left there.
  void open(const std::string& name);
  [[nodiscard]] Version version() const { return version_; }

  /// Creates the slot's cgroups if needed and sets these limits. Returns the folders that a process
  /// has to enter; none if there are no cgroups or a limit cannot be set.
  Folders prepare(std::uint32_t slot, const CgroupLimits& limits);
  /// Creates the slot's cgroups if needed, and takes the limits off that they had. None if there
  /// are no cgroups.
  Folders make(std::uint32_t slot);
  /// The slot is in use since before open(): remove_idle() removes its cgroups after it, too.
  void adopt(std::uint32_t slot);
  /// The folders of the slot's cgroups that exist.
  [[nodiscard]] Folders folders(std::uint32_t slot) const;
  /// Removes the cgroups of free slots, because each costs kernel memory.
  void remove_idle(const std::set<std::uint32_t>& used);

  /// Peak memory use of a job in these folders in bytes, 0 if unknown.
  static std::int64_t ram_peak(const Folders& folders);
  /// How often the kernel has killed a process in these folders at the memory limit, since they
  /// exist.
  static std::uint64_t memory_kills(const Folders& folders);
  /// Kills all processes in these folders.
  static void kill(const Folders& folders);
  /// Where v2 is mounted, also beside v1, in the order of the file `mounts`.
  static Folders mounts_of_v2(const std::string& mounts = "/proc/self/mountinfo");

 private:
  [[nodiscard]] std::string own_path(const std::string& controller) const;
  [[nodiscard]] std::string base_of_v2(const std::string& name) const;
  [[nodiscard]] bool make_base(const std::string& base) const;
  Folders make_limited(std::uint32_t slot, const CgroupLimits& limits);
  [[nodiscard]] bool set_limits(const Folders& folders, const CgroupLimits& limits) const;

  std::vector<std::string> controllers_;
  std::string root_, own_;
  Version version_ = Version::kNone;
  Folders bases_;                 ///< "/sys/fs/cgroup/memory/.../hostler-agent-x"
  std::set<std::uint32_t> made_;  ///< Slots with cgroups.
};

}  // namespace hostler

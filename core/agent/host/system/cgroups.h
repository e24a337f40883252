#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/agent/protocol.h"

namespace hostler::agent {

/// Limits the memory and the number of processes of jobs: one cgroup for each slot, in cgroup v2 or
/// in the memory and pids hierarchies of v1. Needs root and the initial pid namespace. Elsewhere
/// (in a container, say) jobs run without limits, and AttemptEnd::limits_enforced is false.
class Cgroups {
 public:
  /// Detects which cgroups can be used. `name` is the folder of this agent in each hierarchy.
  /// Removes the empty cgroups that an earlier server left there.
  void open(const std::string& name);
  [[nodiscard]] Limits kind() const { return kind_; }

  /// Creates the slot's cgroups if needed and sets these limits (0: none). Returns the folders that
  /// the job has to enter; none if there are no cgroups or a limit cannot be set.
  std::vector<std::string> prepare(std::uint32_t slot, std::uint64_t ram_max,
                                   std::uint32_t processes_max);
  /// The folders of the slot's cgroups that exist.
  [[nodiscard]] std::vector<std::string> folders(std::uint32_t slot) const;
  /// Removes the cgroups of free slots, because each costs kernel memory.
  void remove_idle(const std::set<std::uint32_t>& used);

  /// Peak memory use of a job in these folders in bytes, 0 if unknown.
  static std::int64_t ram_peak(const std::vector<std::string>& folders);
  /// How often the kernel has killed a process in these folders at the memory limit, since they
  /// exist.
  static std::uint64_t memory_kills(const std::vector<std::string>& folders);
  /// Kills all processes in these folders.
  static void kill(const std::vector<std::string>& folders);

 private:
  bool set_limits(const std::vector<std::string>& folders, std::uint64_t ram_max,
                  std::uint32_t processes_max) const;

  Limits kind_ = Limits::kNone;
  std::vector<std::string> bases_;  ///< "/sys/fs/cgroup/memory/.../hostler-agent-x", one or two.
  std::set<std::uint32_t> made_;    ///< Slots with cgroups.
};

}  // namespace hostler::agent

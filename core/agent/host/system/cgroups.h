#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/agent/protocol.h"

namespace hostler::agent {

/// Where a job's memory and processes are bounded: one cgroup for each slot, in v2 or in v1's
/// memory and pids hierarchies. Only root of a machine of its own has them: in a container or
/// another pid namespace the tree is not ours, and jobs run without limits, which their end says.
class Cgroups {
 public:
  /// Finds out what there is; `name` is the folder of this agent in each hierarchy. Whatever an
  /// earlier server left empty there goes.
  void open(const std::string& name);
  [[nodiscard]] Limits kind() const { return kind_; }

  /// Folders to which the slot's job is to be added, with these bounds (0: none); made if need be.
  /// Empty if there are none, or a bound cannot be set.
  std::vector<std::string> prepare(std::uint32_t slot, std::uint64_t ram_max,
                                   std::uint32_t processes_max);
  /// Those of the slot, if they were made.
  [[nodiscard]] std::vector<std::string> folders(std::uint32_t slot) const;
  /// Removes the groups of slots that are free: they cost the kernel memory.
  void remove_idle(const std::set<std::uint32_t>& used);

  /// Peak memory use of a job in these folders in bytes, 0 if unknown.
  static std::int64_t ram_peak(const std::vector<std::string>& folders);
  /// How often something in them was killed for memory; rises.
  static std::uint64_t memory_kills(const std::vector<std::string>& folders);
  /// Kills what is in them.
  static void kill(const std::vector<std::string>& folders);

 private:
  bool set_bounds(const std::vector<std::string>& folders, std::uint64_t ram_max,
                  std::uint32_t processes_max) const;

  Limits kind_ = Limits::kNone;
  std::vector<std::string> bases_;  ///< "/sys/fs/cgroup/memory/.../hostler-agent-x", one or two.
  std::set<std::uint32_t> made_;
};

}  // namespace hostler::agent

#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "core/base/cgroups.h"
#include "core/base/mutex.h"

namespace hostler::driver_host {

/// A cgroup for each process of a driver that is confined: a defect there takes no memory and no
/// time from hostlerd and other drivers. Without the right to make cgroups there are none, and the
/// process limits itself as far as it can. Any thread.
class ProcessCgroups {
 public:
  /// `owner`: of the processes, as no other has it: the state folder of a daemon.
  explicit ProcessCgroups(const std::string& owner);
  /// Removes what is left.
  ~ProcessCgroups();
  ProcessCgroups(const ProcessCgroups&) = delete;
  ProcessCgroups& operator=(const ProcessCgroups&) = delete;

  /// Of one process.
  struct Place {
    std::uint32_t slot = 0;
    Cgroups::Folders folders;  ///< That the process enters; empty: there are none.
  };
  Place make();
  /// The process has ended. Whether it was ended because it reached its limit of memory.
  bool remove(const Place& place);

 private:
  Mutex mutex_;
  Cgroups cgroups_ HOSTLER_GUARDED_BY(mutex_){{"memory", "cpu", "pids"}};
  std::set<std::uint32_t> used_ HOSTLER_GUARDED_BY(mutex_);
  std::uint32_t last_ HOSTLER_GUARDED_BY(mutex_) = 0;
};

}  // namespace hostler::driver_host

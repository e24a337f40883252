#include "core/driver_host/parent/process_cgroups.h"

#include "core/base/text.h"
#include "core/driver_host/wire/limits.h"

namespace hostler::driver_host {
namespace {

/// Against 100 of hostlerd: it is what all wait for.
constexpr std::uint32_t kCpuWeight = 25;

}  // namespace

ProcessCgroups::ProcessCgroups(const std::string& owner) {
  const MutexLock lock(mutex_);
  cgroups_.open("hostler-drivers-" + std::to_string(fnv1a(owner)));
}

ProcessCgroups::~ProcessCgroups() {
  const MutexLock lock(mutex_);
  cgroups_.remove_idle({});
}

ProcessCgroups::Place ProcessCgroups::make() {
  const MutexLock lock(mutex_);
  Place out{.slot = ++last_, .folders = {}};
  out.folders = cgroups_.prepare(
      out.slot, {.ram_max = kMemoryMax, .processes_max = kThreadsMax, .cpu_weight = kCpuWeight});
  if (!out.folders.empty()) used_.insert(out.slot);
  return out;
}

bool ProcessCgroups::remove(const Place& place) {
  if (place.folders.empty()) return false;
  const bool was_full = Cgroups::memory_kills(place.folders) > 0;
  Cgroups::kill(place.folders);  // Programs that have left the driver's group.
  const MutexLock lock(mutex_);
  used_.erase(place.slot);
  cgroups_.remove_idle(used_);
  return was_full;
}

}  // namespace hostler::driver_host

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/scheduler/plan.h"

namespace hostler::planning {

/// What becomes of an item in a plan. In this order the items of a class meet it.
enum class Outcome : std::uint8_t {
  kHostReady,    ///< It starts on a host that is there.
  kHostComing,   ///< It waits for a host that boots already.
  kHostWoken,    ///< It waits for a host that the plan switches on.
  kHostCreated,  ///< It waits for a host that the plan creates.
  kWaits,        ///< No host is or will be there for it.
};
/// "host_ready", "host_coming", "host_woken", "host_created", "waits".
const char* to_string(Outcome outcome);

/// The same for several items of one class.
struct Fate {
  Outcome outcome = Outcome::kWaits;
  std::uint64_t count = 0;
  model::InstanceId host = {};  ///< Unset with kHostCreated and kWaits.
  std::uint32_t offering =
      UINT32_MAX;  ///< Of the host. UINT32_MAX: the item waits, or its type has left the menu.
};

/// The fates of all classes of the snapshot, those of the first items first. Their counts add up to
/// those of the class's views.
std::map<demand::ClassId, std::vector<Fate>> fates_of(const scheduler::Snapshot& snapshot,
                                                      const scheduler::Plan& plan);

}  // namespace hostler::planning

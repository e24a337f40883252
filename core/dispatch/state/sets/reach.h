#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/base/time.h"
#include "core/model/ids.h"

namespace hostler::dispatch {

/// Half of the connected hosts (three or more) became unreachable within a probe timeout.
struct Partition {
  Wall since;
  Mono begun;                                ///< The same on the other clock.
  Mono until;                                ///< None of them is ended for that before.
  std::set<model::InstanceId> boots_failed;  ///< New hosts that could not be reached either.
};

/// Nobody can log in at the jump host of the set.
struct JumpHostProblem {
  Wall since;
  std::string text;  ///< Why; fit to print.
};

/// Which hosts of the set can be reached.
struct Reach {
  std::map<model::InstanceId, Mono> unreachable;  ///< And since when.
  std::set<model::InstanceId> connected;          ///< By a proved connection.
  std::optional<Partition> partition;
  std::optional<JumpHostProblem> jump_host;
  /// Hosts of before the restart were looked at together, once: those that are still unreachable
  /// after that are lost one by one.
  bool looked_after_restart = false;
};

}  // namespace hostler::dispatch

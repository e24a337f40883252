#pragma once

#include <map>
#include <string>

#include "core/dispatch/dispatcher.h"
#include "tests/sim/cloud.h"

namespace hostler::sim {

/// Machines that lists show as stopped: after some such lists no work may be on them.
class StoppedMachines {
 public:
  explicit StoppedMachines(Disk::Complain complain) : complain_(std::move(complain)) {}

  /// A daemon starts, which knows nothing of earlier lists.
  void restart() { shown_.clear(); }
  /// The daemon has taken a good list.
  void listed(const dispatch::SetListed& list, const dispatch::Queries& queries);

 private:
  struct Shown {
    Mono first;  ///< When the first list that shows it so was sent.
    Mono last;   ///< The same of the last one that counts.
    int count = 0;
  };
  Disk::Complain complain_;
  std::map<std::string, Shown> shown_;  ///< By the id of the machine, since it is stopped.
};

}  // namespace hostler::sim

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/state/sets/last_list.h"
#include "core/dispatch/state/sets/strangers.h"

namespace hostler::dispatch {

/// A machine in a cloud's list, and its instance if that is known.
struct Sighting {
  const model::ListedInstance* seen;
  std::optional<model::InstanceId> known;
  std::size_t at = 0;  ///< Its place in the list.
};

/// A complete list whose sightings are taken one by one; a long list takes several turns of the
/// loop. Until the last sighting is taken, no newer list is asked for, and no stranger is adopted.
struct ListInHand {
  Mono sent, as_of;  ///< As StrangeList has them.
  std::vector<LastList::Entry> entries;
  std::vector<Sighting> sightings;
  std::size_t taken = 0;  ///< Of the sightings.
  std::string foreign;    ///< What to say of one that is of another owner; empty: there is none.
};

}  // namespace hostler::dispatch

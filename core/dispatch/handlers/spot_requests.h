#pragma once

#include <cstddef>
#include <vector>

#include "core/dispatch/state/sets/last_list.h"

namespace hostler::dispatch {

/// A machine may be listed beside the spot request that it was, but not as one that another machine
/// was: that one would have no host any more. Entries with such a `request_id` lose it, and are not
/// settled. Returns how many.
std::size_t drop_false_requests(std::vector<LastList::Entry>& entries);

}  // namespace hostler::dispatch

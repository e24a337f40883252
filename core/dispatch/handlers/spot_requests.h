#pragma once

#include <cstddef>
#include <vector>

#include "core/dispatch/state/sets/last_list.h"

namespace hostler::dispatch {

/// A machine may be listed together with its own spot request. An entry whose `request_id` is the
/// id of another listed machine loses it, and is not settled: otherwise it would take that
/// machine's host. Returns how many entries lost it.
std::size_t drop_false_requests(std::vector<LastList::Entry>& entries);

}  // namespace hostler::dispatch

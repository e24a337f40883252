#pragma once

#include <string>

#include "core/dispatch/events.h"
#include "core/dispatch/state/state.h"

/// What clouds say of prices is in their currencies; the state is in the site's.
namespace hostler::dispatch {

/// Converts the prices in an answer of a cloud, and adds what the scratch disks of the types cost.
/// Where the site has no exchange rate they are left out.
void to_site_currency(Event& event, const State& state);

}  // namespace hostler::dispatch

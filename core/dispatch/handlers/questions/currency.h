#pragma once

#include <string>

#include "core/dispatch/events.h"
#include "core/dispatch/state/state.h"

/// What clouds say of prices is in their currencies; the state is in the site's.
namespace hostler::dispatch {

/// Converts the prices in an answer of a cloud. Where the site has no exchange rate they are left
/// out.
void to_site_currency(Event& event, const State& state);

/// Why no host can be created under the pool's price cap, which has to be told to the cloud in its
/// currency. One sentence for people; empty: it can.
[[nodiscard]] std::string refuses_cap(const model::SitePolicy& policy, const Set& set,
                                      const model::PoolPolicy& pool, model::Market market);

}  // namespace hostler::dispatch

#pragma once

#include <string>
#include <vector>

#include "core/dispatch/state/state.h"

/// What is wrong now, in sentences for people: one rule for `instances`, `sets`, `why` and /health.
namespace hostler::dispatch {

/// "h-1, h-2, h-3 and 4 more"
[[nodiscard]] std::string names_of(const std::vector<model::InstanceId>& ids);

/// Lists omit the instance, and should show it.
[[nodiscard]] bool is_unlisted(const fleet::Instance& instance);

[[nodiscard]] std::vector<std::string> conditions_of(const Host& host, const State& all, Now now);

/// Of each set, by its index. O(hosts).
[[nodiscard]] std::vector<std::vector<std::string>> conditions_of_sets(const State& state, Now now);

/// Why the set is not opened or listed now, with the time of the next try; empty: it is.
[[nodiscard]] std::string held_state(const State& state, const Set& set, Now now);

/// The instances that vanished and still count for ceilings, as the end of a sentence about a
/// ceiling: "; vanished instances still count: h-1". Empty: there are none. O(hosts).
[[nodiscard]] std::string vanished_that_count(const State& state);

}  // namespace hostler::dispatch

#pragma once

#include <string>
#include <vector>

#include "core/dispatch/state/state.h"

/// Pushes of outside schedulers, for people and programs.
namespace hostler::dispatch {

/// Why the pool is held: there was no push, or the last one is too old. Empty: it is not.
[[nodiscard]] std::string problem_of_pushes(const State& state, std::uint32_t pool);

/// Each trouble with the pushes of the pool and with its hosts, as a sentence. O(hosts).
[[nodiscard]] std::vector<std::string> conditions_of_pushes(const State& state, std::uint32_t pool);

/// A sentence about the outside scheduler's agent on the host; empty: there is nothing to say.
[[nodiscard]] std::string condition_of_agent(const State& state, const Host& host, Now now);

}  // namespace hostler::dispatch

#pragma once

#include <string>
#include <vector>

#include "core/dispatch/state/state.h"

/// What outside schedulers have pushed, for people and programs.
namespace hostler::dispatch {

/// Why the pool is held: there was no push, or the last one is too old. Empty: it is not.
[[nodiscard]] std::string problem_of_pushes(const State& state, std::uint32_t pool);

/// What is wrong with the pushes of the pool and with its hosts, in sentences. O(hosts).
[[nodiscard]] std::vector<std::string> conditions_of_pushes(const State& state, std::uint32_t pool);

/// What its outside scheduler has to do with the state of the host; empty: nothing.
[[nodiscard]] std::string condition_of_agent(const State& state, const Host& host, Now now);

}  // namespace hostler::dispatch

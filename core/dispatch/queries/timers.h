#pragma once

#include <vector>

#include "core/base/time.h"
#include "core/model/dump.h"

namespace hostler::dispatch {

struct State;

/// All that the dispatcher does by itself at a time, the first one first; nothing in an old state.
/// Dispatcher::next_wake() is one of these times.
[[nodiscard]] std::vector<model::TimerView> timers_of(const State& state, Now now);

}  // namespace hostler::dispatch

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dispatch/state/state.h"
#include "core/model/views.h"

/// Bounds of pools and metrics, as they are shown.
namespace hostler::dispatch {

/// The bounds of the pool that are expressions, as they were evaluated last.
[[nodiscard]] std::vector<model::BoundView> bounds_of(const State& state, std::uint32_t pool);
/// The metrics that these use, each once, and how far they are known now.
[[nodiscard]] std::vector<model::MetricView> metrics_of(const State& state, std::uint32_t pool,
                                                        Now now);
/// What is wrong with the pool, in sentences for people.
[[nodiscard]] std::vector<std::string> conditions_of(const State& state, std::uint32_t pool);

}  // namespace hostler::dispatch

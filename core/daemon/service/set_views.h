#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/queries.h"
#include "core/model/views.h"

namespace hostler::daemon {

using DriverOf = std::function<model::DriverView(const std::string& set)>;

/// All sets, with what their drivers say of themselves. The loop's thread.
inline std::vector<model::SetView> sets_with_drivers(const dispatch::Queries& state,
                                                     const DriverOf& driver_of, Now now) {
  auto sets = state.sets(now);
  for (model::SetView& set : sets) {
    model::DriverView& driver = set.driver.emplace(driver_of(set.name));
    if (!set.held.empty()) driver.state = set.held;
    if (!driver.opening.empty()) set.conditions.push_back(driver.opening);
  }
  return sets;
}

}  // namespace hostler::daemon

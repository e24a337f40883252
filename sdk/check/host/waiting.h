#pragma once

#include <chrono>
#include <thread>

#include "sdk/check/run/test.h"

namespace hostler::check {

/// Whether the condition comes true within `max`. It is looked at every `step`. False, too, when
/// the run is being ended.
template <class Condition>
bool comes_true(const Context& c, Duration max, Duration step, const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + max;
  while (!condition()) {
    if (c.stops || std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(step);
  }
  return true;
}

}  // namespace hostler::check

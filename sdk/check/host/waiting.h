#pragma once

#include <chrono>
#include <thread>

#include "sdk/check/host/session.h"

namespace hostler::check {

/// Whether the condition comes true within `max`, beside the time that the test waits for the
/// cloud. It is looked at every `step`. False, too, when the run is being ended.
template <class Condition>
bool comes_true(const Context& c, Duration max, Duration step, const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + max - c.findings.waited();
  while (!condition()) {
    if (c.stops || std::chrono::steady_clock::now() > until + c.findings.waited()) return false;
    std::this_thread::sleep_for(step);
  }
  return true;
}
/// Whether the condition, which asks what lists show, comes true within the time that the cloud may
/// take to show a change, and `more`.
template <class Condition>
bool is_shown(const Context& c, const Session& session, const Condition& condition,
              Duration more = std::chrono::seconds(10)) {
  constexpr Duration kStep = std::chrono::milliseconds(20);
  return comes_true(c, session.consistency() + more, kStep, condition);
}

}  // namespace hostler::check

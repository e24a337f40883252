#include "core/dispatch/state/sets/opening.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/assert.h"
#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

constexpr Duration kReopenPause = std::chrono::seconds(1);  ///< Before a set is opened again.
constexpr Duration kReopenPauseMax = std::chrono::minutes(1);

}  // namespace

void Opening::want_now(Mono now) { at_ = std::min(at_, now); }

void Opening::hold_back(Mono until, Mono now) { at_ = std::max(until, now + kReopenPause); }

void Opening::sent(Mono now) {
  HOSTLER_ASSERT(!under_way_, "a set is opened by one call at a time");
  under_way_ = true;
  sent_ = now;
}

bool Opening::opened() {
  was_open_ = true;
  if (std::exchange(open_, true)) return false;
  failures_ = 0;
  return true;
}

bool Opening::closed() {
  if (!std::exchange(open_, false)) return false;
  HOSTLER_ASSERT(failures_ == 0, "an open set has no failures to open");
  return true;
}

void Opening::failed(std::optional<Duration> asked, Mono now) {
  HOSTLER_ASSERT(!open_, "what fails while a set is open does not close it");
  const Duration pause = fleet::backoff(++failures_, kReopenPause, kReopenPauseMax);
  at_ = now + std::max(pause, asked.value_or(pause));
}

}  // namespace hostler::dispatch

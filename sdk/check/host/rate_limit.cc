#include "sdk/check/host/rate_limit.h"

#include <algorithm>
#include <thread>

namespace hostler::check {
namespace {

using std::chrono::steady_clock;

constexpr Duration kPauseMin = std::chrono::milliseconds(10);

/// As hostlerd waits where the cloud does not say how long.
Duration back_off(int tries) { return std::chrono::seconds(1 << std::min(tries - 1, 8)); }

}  // namespace

RateLimit& RateLimit::get() {
  static auto* const limit = new RateLimit;
  return *limit;
}

void RateLimit::await_turn(double per_second, Findings& findings) {
  MutexLock lock(mutex_);
  const auto now = steady_clock::now();
  const auto turn = std::max({now, next_, until_});
  if (per_second > 0)
    next_ =
        turn + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / per_second));
  lock.unlock();
  if (turn == now) return;
  findings.waits(turn - now);
  std::this_thread::sleep_until(turn);
}

bool RateLimit::hold_back(const model::CloudError& error, Time began, Time first, int tries) {
  const MutexLock lock(mutex_);
  if (began < until_) return true;  // another call was refused meanwhile
  const auto now = steady_clock::now();
  const Duration pause = std::max(error.retry_after.value_or(back_off(tries)), kPauseMin);
  if (pause > first + kWaitMax - now) return false;
  until_ = now + pause;
  return true;
}

}  // namespace hostler::check

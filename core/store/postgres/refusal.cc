#include "core/store/postgres/refusal.h"

#include <algorithm>

namespace hostler::store::postgres {
namespace {

using namespace std::chrono_literals;

/// Longer than any try takes.
constexpr auto kTryFor = 10s;

}  // namespace

std::optional<Error> Refusal::current(Clock::time_point now) {
  const MutexLock lock(mutex_);
  if (!error_) return std::nullopt;
  if (now < until_) return error_;
  until_ = now + kTryFor;  // the caller tries; the others get the known failure
  return std::nullopt;
}

void Refusal::set(Error error, Clock::duration took, Clock::time_point now) {
  const MutexLock lock(mutex_);
  error_ = std::move(error);
  until_ = now + std::max<Clock::duration>(1s, 2 * took);
}

void Refusal::clear() {
  const MutexLock lock(mutex_);
  error_.reset();
}

}  // namespace hostler::store::postgres

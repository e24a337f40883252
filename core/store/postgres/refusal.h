#pragma once

#include <chrono>
#include <optional>

#include "core/base/error.h"
#include "core/base/mutex.h"

namespace hostler::store::postgres {

/// That a session could not be had a moment ago, shared by the connections that read: what one
/// found out the others need not, and after that one at a time tries again. Threads: any.
class Refusal {
 public:
  using Clock = std::chrono::steady_clock;

  /// The refusal that holds; none: try, then say how it went.
  std::optional<Error> current(Clock::time_point now = Clock::now());
  /// It holds for a second, or for twice the time it took: most of the time nobody waits.
  void set(Error error, Clock::duration took, Clock::time_point now = Clock::now());
  void clear();

 private:
  Mutex mutex_;
  std::optional<Error> error_ HOSTLER_GUARDED_BY(mutex_);
  Clock::time_point until_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::store::postgres

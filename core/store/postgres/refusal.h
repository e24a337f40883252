#pragma once

#include <chrono>
#include <optional>

#include "core/base/error.h"
#include "core/base/mutex.h"

namespace hostler::store::postgres {

/// The last failure to open a session, shared by the connections that read: while it holds, they
/// fail at once; after that one of them at a time tries again. Threads: any.
class Refusal {
 public:
  using Clock = std::chrono::steady_clock;

  /// The failure that holds. None: open a session, then call set() or clear().
  std::optional<Error> current(Clock::time_point now = Clock::now());
  /// It holds for a second, or for twice the time that the try took.
  void set(Error error, Clock::duration took, Clock::time_point now = Clock::now());
  void clear();

 private:
  Mutex mutex_;
  std::optional<Error> error_ HOSTLER_GUARDED_BY(mutex_);
  Clock::time_point until_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::store::postgres

#pragma once

#include <atomic>
#include <chrono>

#include "core/base/mutex.h"
#include "core/model/cloud.h"
#include "sdk/check/run/findings.h"

namespace hostler::check {

/// When the cloud allows the next call. One in a process, as sets of one account share its rate.
///
/// Threads: any.
class RateLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// From the first refusal of a call until it fails.
  static constexpr Duration kWaitMax = std::chrono::minutes(2);

  static RateLimit& get();

  /// Waits until it is the turn of a call, at most `per_second` calls; 0: only refusals hold it
  /// back.
  void await_turn(double per_second, Findings& findings);
  /// A call that began then was refused for the `tries`th time, at first at `first`: the calls that
  /// come wait as long as the cloud asks. False: that is too long.
  bool hold_back(const model::CloudError& error, Time began, Time first, int tries);

  /// Refusals by the rate are what a test looks for: nothing waits for them.
  void want_refusals(bool wanted) { wants_refusals_ = wanted; }
  [[nodiscard]] bool wants_refusals() const { return wants_refusals_; }

 private:
  Mutex mutex_;
  Time next_ HOSTLER_GUARDED_BY(mutex_), until_ HOSTLER_GUARDED_BY(mutex_);
  std::atomic<bool> wants_refusals_{false};
};

}  // namespace hostler::check

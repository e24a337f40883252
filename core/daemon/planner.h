#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "core/base/mutex.h"
#include "core/dispatch/events.h"
#include "core/metrics/metrics.h"

namespace hostler::daemon {

/// Makes plans from immutable snapshots, one at a time, on a thread of its own.
class Planner {
 public:
  using Made = std::function<void(dispatch::PlanMade)>;

  Planner(metrics::Metrics& metrics, Made made);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// Any thread; returns at once. `made` is called on the planner's thread. A newer request
  /// replaces one that still waits.
  void make(dispatch::MakePlan request);

 private:
  void run();

  metrics::Metrics& metrics_;
  const Made made_;
  Mutex mutex_;
  Condition woken_;
  std::optional<dispatch::MakePlan> request_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hostler::daemon

#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/dispatch/events.h"
#include "core/metrics/metrics.h"

namespace hostler::daemon {

/// Makes plans off the loop, one at a time, of immutable snapshots.
class Planner {
 public:
  using Made = std::function<void(dispatch::PlanMade)>;

  Planner(metrics::Metrics& metrics, Made made);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// Any thread; the answer comes on the planner's thread. A newer request replaces a waiting one.
  void make(dispatch::MakePlan request);

 private:
  void run();

  metrics::Metrics& metrics_;
  const Made made_;
  std::mutex mutex_;
  std::condition_variable woken_;
  std::optional<dispatch::MakePlan> request_;  ///< Guarded by mutex_.
  bool stopping_ = false;                      ///< Guarded by mutex_.
  std::thread thread_;
};

}  // namespace hostler::daemon

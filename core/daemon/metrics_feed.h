#pragma once

#include <map>
#include <vector>

#include "core/dispatch/dispatcher.h"
#include "core/metrics/metrics.h"

namespace hostler::daemon {

/// Tells the metrics what the loop knows. Loop thread only.
class MetricsFeed {
 public:
  explicit MetricsFeed(metrics::Metrics& metrics) : metrics_(metrics) {}

  /// What has just happened: boots and their milestones.
  void observe(const std::vector<model::Change>& changes);
  /// What is now.
  void show(const dispatch::Dispatcher& state, Now now);

 private:
  struct Seen {
    bool verified = false, ready = false, first_job = false, ended = false;
  };
  void observe(const model::InstanceRecord& record);

  metrics::Metrics& metrics_;
  std::map<model::InstanceId, Seen> seen_;
};

}  // namespace hostler::daemon

#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/dispatch/dispatcher.h"
#include "core/metrics/metrics.h"

namespace hostler::daemon {

/// Tells the metrics what the loop knows. Loop thread only.
class MetricsFeed {
 public:
  explicit MetricsFeed(metrics::Metrics& metrics) : metrics_(metrics) {}

  /// What a former run told already, and jobs that it took and never started. Before the first
  /// observe().
  void take_up(const model::Restored& restored);
  /// What has just happened: jobs' ways, boots and their milestones.
  void observe(const std::vector<model::Change>& changes, Now now);
  /// What is now.
  void show(const dispatch::Queries& state, Now now);

 private:
  struct Seen {
    bool verified = false, ready = false, first_job = false, ended = false;
  };
  /// Jobs of following ids, submitted together, some of which were never started yet.
  struct Submitted {
    Wall at;
    std::size_t unstarted = 0;
  };
  void observe(const model::InstanceRecord& record);
  void submitted(model::WorkId job, Wall at);
  /// When it was, of a job that is started or gives up now for the first time.
  std::optional<Wall> leaves_queue(model::WorkId job);
  void ended(const model::WorkRecord& record);
  void show_jobs(const model::Totals& totals);
  void show_instances(const dispatch::Queries& state);
  void show_clouds(const dispatch::Queries& state, Mono now);

  metrics::Metrics& metrics_;
  std::map<model::InstanceId, Seen> seen_;
  std::map<model::WorkId, Submitted> submitted_;  ///< By the first id.
};

}  // namespace hostler::daemon

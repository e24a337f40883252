#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/dispatch/dispatcher.h"
#include "core/metrics/metrics.h"

namespace hostler::daemon {

/// Feeds the metrics with the dispatcher's changes and state. Loop thread only.
class MetricsFeed {
 public:
  explicit MetricsFeed(metrics::Metrics& metrics) : metrics_(metrics) {}

  /// The state of the journal, before the first observe(): jobs that never started, and milestones
  /// that an earlier run has counted already.
  void take_up(const model::Restored& restored);
  /// Counts the events among the changes: jobs that were submitted, started and ended, boots.
  void observe(const std::vector<model::Change>& changes, Now now);
  /// Shows the present state.
  void show(const dispatch::Queries& state, Now now);

 private:
  /// The milestones of an instance that are counted already.
  struct Counted {
    bool verified = false, ready = false, first_job = false, boot_ended = false;
  };
  /// Jobs of consecutive ids that were submitted together.
  struct Submitted {
    Wall at;
    std::size_t unstarted = 0;
  };
  void observe(const model::InstanceRecord& record);
  void submitted(model::WorkId job, Wall at);
  /// The job starts, or ends unstarted: returns when it was submitted. nullopt: not known.
  std::optional<Wall> leaves_queue(model::WorkId job);
  void ended(const model::WorkRecord& record);
  void show_jobs(const model::Totals& totals);
  void show_instances(const dispatch::Queries& state);
  void show_clouds(const dispatch::Queries& state, Mono now);

  metrics::Metrics& metrics_;
  std::map<model::InstanceId, Counted> counted_;
  std::map<model::WorkId, Submitted> submitted_;  ///< By the first id.
};

}  // namespace hostler::daemon

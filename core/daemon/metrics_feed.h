#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/queries.h"
#include "core/metrics/metrics.h"

namespace hostler::daemon {

/// Feeds the metrics from the state and the changes of the loop. Loop thread only.
class MetricsFeed {
 public:
  explicit MetricsFeed(metrics::Metrics& metrics) : metrics_(metrics) {}

  /// Restores which milestones an earlier run has counted and which jobs wait for their first
  /// start. Once, before the first count().
  void restore(const model::Restored& restored);
  /// Counts what has happened: submits, starts and ends of work, boots and their milestones.
  void count(const std::vector<model::Change>& changes, Now now);
  /// `all`: of gangs since the start of the daemon. Counts those that it has not counted before.
  void count_gangs(const model::GangCounts& all);
  /// Sets the gauges, which show the present.
  void set_gauges(const dispatch::Queries& state, Now now);

 private:
  /// Milestones of an instance that were counted.
  struct Counted {
    bool verified = false, ready = false, first_job = false, boot_ended = false;
  };
  /// Jobs with consecutive ids that were submitted together, and how many were never started.
  struct Submitted {
    Wall at;
    std::size_t unstarted = 0;
  };
  void count_instance(const model::InstanceRecord& record);
  void add_submitted(model::WorkId job, Wall at);
  /// The job is started for the first time, or ends without a start. Returns when it was submitted.
  std::optional<Wall> remove_submitted(model::WorkId job);
  void count_end(const model::WorkRecord& record);
  void count_submit(const model::WorkItem& item);
  void count_lease(const model::WorkRecord& record, Now now);
  void set_work(const model::Totals& totals);
  void set_instances(const dispatch::Queries& state, Now now);
  void set_pools(const dispatch::Queries& state, std::map<std::string, std::size_t>& instances,
                 Now now);
  void set_clouds(const dispatch::Queries& state, Mono now);

  metrics::Metrics& metrics_;
  std::map<model::InstanceId, Counted> counted_;
  std::map<model::WorkId, Submitted> submitted_;  ///< By the first id of each.
  std::map<model::WorkId, Wall> lease_submits_;   ///< The leases that were never granted.
  model::GangCounts gangs_;                       ///< That were counted.
};

}  // namespace hostler::daemon

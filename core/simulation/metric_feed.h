#pragma once

#include <functional>
#include <optional>

#include "core/base/error.h"
#include "core/dispatch/events.h"
#include "core/simulation/scenario.h"
#include "core/simulation/timeline.h"

namespace hostler::simulation {

/// In place of the daemon's sources: each metric of the policy says at its interval what the
/// scenario has of it then. All arguments must outlive it.
class MetricFeed {
 public:
  MetricFeed(Timeline& time, const Scenario& scenario, const model::SitePolicy& policy,
             std::function<void(dispatch::Event)> post)
      : time_(time), scenario_(scenario), policy_(policy), post_(std::move(post)) {}

  /// Posts the time zones of the policy, and each metric for the first time. Fails if the system
  /// does not have a zone. Blocks to read its zones.
  Result<void> begin();

 private:
  void read(const model::MetricPolicy& metric, Mono start);

  Timeline& time_;
  const Scenario& scenario_;
  const model::SitePolicy& policy_;
  std::function<void(dispatch::Event)> post_;
};

/// The reading of the metric at the time.
[[nodiscard]] model::MetricReading reading_at(const model::MetricPolicy& metric,
                                              const MetricSeries& series, Duration at, Wall now);

}  // namespace hostler::simulation

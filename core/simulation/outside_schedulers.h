#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/simulation/outside_scheduler.h"

namespace hostler::simulation {

/// All outside schedulers of a scenario.
class OutsideSchedulers {
 public:
  /// Their tasks, one load for each. Fails as Load::open() does.
  [[nodiscard]] static Result<std::vector<Load>> open(const Scenario& scenario);
  /// `loads`: of open(). The others outlive it. The policy has each pool of the scenario.
  OutsideSchedulers(Timeline& time, const Scenario& scenario, const model::SitePolicy& policy,
                    std::vector<Load> loads, const OutsideScheduler::Outside& outside);

  void begin();
  void hear(const dispatch::PushReply& answer);
  void lost(model::InstanceId host);
  /// Why no more tasks arrive at one of them.
  [[nodiscard]] std::optional<Error> problem() const;
  [[nodiscard]] TaskFigures complete(Duration lasted);

 private:
  TaskCount count_;
  std::vector<std::unique_ptr<OutsideScheduler>> schedulers_;
};

}  // namespace hostler::simulation

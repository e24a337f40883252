#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/jobs.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/plan_state.h"
#include "core/scheduler/lane_caps.h"

namespace hostler::dispatch {

/// How far `running_vcpus_max` and `running_price_per_hour_max` of the principals reach in the
/// queue. Owns nothing: Jobs counts what each principal holds and may hold.
class RunningLimits {
 public:
  RunningLimits(const model::SitePolicy& policy, const Jobs& jobs, const Menu& menu,
                const Hosts& hosts, const PlanState& plan)
      : policy_(policy), jobs_(jobs), menu_(menu), hosts_(hosts), plan_(plan) {}

  /// As of now; keeps prices. Valid until the next event.
  [[nodiscard]] scheduler::CapRules rules() const;
  /// What a plan made now sees of the lanes of limited principals. O(principals + their lanes); for
  /// limits of price also O(hosts + offerings x classes in which such a principal waits).
  [[nodiscard]] scheduler::LaneCaps caps() const;
  /// Of one principal; empty if it has no limit.
  [[nodiscard]] scheduler::LaneCaps caps_of(scheduler::PrincipalId principal,
                                            const scheduler::CapRules& rules) const;
  /// Why a waiting job is beyond the caps of its principal; for people.
  [[nodiscard]] std::string reason(const work::Job& job, const scheduler::CapRules& rules) const;

 private:
  /// The least and the highest price of a whole host of each offering.
  using HostPrices = std::vector<scheduler::PartPrices>;
  [[nodiscard]] HostPrices host_prices() const;
  [[nodiscard]] std::optional<scheduler::PartPrices> prices(scheduler::ClassId cls,
                                                            const HostPrices& of_hosts) const;

  const model::SitePolicy& policy_;
  const Jobs& jobs_;
  const Menu& menu_;
  const Hosts& hosts_;
  const PlanState& plan_;
};

}  // namespace hostler::dispatch

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/demand/lane_caps.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/principals.h"

namespace hostler::dispatch {

/// How far `running_vcpus_max`, `running_gpus_max` and `running_price_per_hour_max` of the
/// principals reach in the queue. Owns nothing: Principals counts what each principal holds and may
/// hold.
class RunningLimits {
 public:
  RunningLimits(const model::SitePolicy& policy, const Principals& principals,
                const WaitingWork& waiting, const Menu& menu, const Hosts& hosts,
                const PlanState& plan)
      : policy_(policy),
        principals_(principals),
        waiting_(waiting),
        menu_(menu),
        hosts_(hosts),
        plan_(plan) {}

  /// As of now; keeps prices. Valid until the next event.
  [[nodiscard]] demand::CapRules rules() const;
  /// What a plan made now sees of the lanes of limited principals. O(principals + their lanes); for
  /// limits of price also O(hosts + offerings x classes in which such a principal waits).
  [[nodiscard]] demand::LaneCaps caps() const;
  /// Of one principal; empty if it has no limit.
  [[nodiscard]] demand::LaneCaps caps_of(demand::PrincipalId principal,
                                         const demand::CapRules& rules) const;
  /// Why waiting work is beyond the caps of its principal; for people.
  [[nodiscard]] std::string reason(const WaitingWork::Place& work,
                                   const demand::CapRules& rules) const;

 private:
  /// The least and the highest price of a whole host of each offering.
  struct PriceRange {
    model::Micros least, most;
  };
  using HostPrices = std::vector<PriceRange>;
  [[nodiscard]] HostPrices host_prices() const;
  [[nodiscard]] std::optional<demand::PartRange> parts(demand::ClassId cls,
                                                       const HostPrices& of_hosts) const;

  const model::SitePolicy& policy_;
  const Principals& principals_;
  const WaitingWork& waiting_;
  const Menu& menu_;
  const Hosts& hosts_;
  const PlanState& plan_;
};

}  // namespace hostler::dispatch

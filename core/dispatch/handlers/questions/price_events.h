#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/dispatch/events.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/questions/price_answers.h"
#include "core/dispatch/state/questions/questions.h"

namespace hostler::dispatch {

/// Asks sets for the prices of their types, and takes the answers, also for the hosts that there
/// are.
class PriceEvents {
 public:
  PriceEvents(const model::SitePolicy& policy, const Sets& sets, Hosts& hosts, Menu& menu,
              Questions& questions, PriceAnswers& answers, CallGates& gates, PlanState& plan,
              Recorder& recorder, InstanceSteps& steps)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        menu_(menu),
        questions_(questions),
        answers_(answers),
        gates_(gates),
        plan_(plan),
        recorder_(recorder),
        steps_(steps) {}

  /// Also reprices, once for all answers of a batch: a set may be asked about a thousand types.
  void send_due(std::uint32_t set, Now now);
  void on(const PricesFetched& event, Now now);
  /// Also after the start: from now on the sets are asked. A price that was converted at another
  /// exchange rate is not known any more.
  void policy_changed(Now now);
  /// Hosts of the set cost what its cloud says now of their types, where its lists do not say what
  /// each of them costs. O(hosts).
  void reprice(const std::string& set, Now now);

 private:
  void ask(std::uint32_t set, const Questions::Call& call, Now now);
  void give_up(std::uint32_t set, Now now);
  [[nodiscard]] std::optional<double> rate(std::uint32_t set) const;

  const model::SitePolicy& policy_;
  const Sets& sets_;
  Hosts& hosts_;
  Menu& menu_;
  Questions& questions_;
  PriceAnswers& answers_;
  CallGates& gates_;
  PlanState& plan_;
  Recorder& recorder_;
  InstanceSteps& steps_;
  std::set<std::uint32_t> to_reprice_;        ///< Sets with answers since the last batch.
  std::vector<model::Micros> volume_prices_;  ///< By set: known prices have it in them.
};

}  // namespace hostler::dispatch

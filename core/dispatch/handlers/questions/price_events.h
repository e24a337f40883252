#pragma once

#include "core/dispatch/events.h"
#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Asks sets for the prices of their types, and takes the answers.
class PriceEvents {
 public:
  PriceEvents(const model::SitePolicy& policy, Sets& sets, Menu& menu, CallGates& gates,
              PlanState& plan, Recorder& recorder)
      : policy_(policy),
        sets_(sets),
        menu_(menu),
        gates_(gates),
        plan_(plan),
        recorder_(recorder) {}

  void send_due(std::uint32_t set, Now now);
  void on(const PricesFetched& event, Now now);

 private:
  const model::SitePolicy& policy_;
  Sets& sets_;
  Menu& menu_;
  CallGates& gates_;
  PlanState& plan_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch

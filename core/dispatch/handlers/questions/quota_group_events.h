#pragma once

#include "core/dispatch/events.h"
#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Asks drivers which types share a quota, and takes the answers.
class QuotaGroupEvents {
 public:
  QuotaGroupEvents(const model::SitePolicy& policy, Sets& sets, const Menu& menu, CallGates& gates,
                   Recorder& recorder)
      : policy_(policy), sets_(sets), menu_(menu), gates_(gates), recorder_(recorder) {}

  void send_due(std::uint32_t set, Now now);
  void on(const QuotaGroupFetched& event, Now now);

 private:
  const model::SitePolicy& policy_;
  Sets& sets_;
  const Menu& menu_;
  CallGates& gates_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch

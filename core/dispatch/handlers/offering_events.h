#pragma once

#include <set>
#include <string>

#include "core/dispatch/events.h"
#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/offered_types.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Asks sets what they offer, and takes the answers.
class OfferingEvents {
 public:
  OfferingEvents(const model::SitePolicy& policy, const Sets& sets, OfferedTypes& offered,
                 CallGates& gates, Recorder& recorder)
      : policy_(policy), sets_(sets), offered_(offered), gates_(gates), recorder_(recorder) {}

  void send_due(std::uint32_t set, Now now);
  /// True: other types are offered than before, or at other prices.
  /// `in_use`: the types that hosts have.
  [[nodiscard]] bool on(const OfferingsFetched& event, const std::set<std::string>& in_use,
                        Now now);
  /// The set has another driver, which may know more.
  void driver_replaced(const std::string& set, Now now);
  /// An admin opened a gate: sets that failed are asked again now.
  void retry_failed(Now now);
  [[nodiscard]] Mono next_wake() const;

 private:
  [[nodiscard]] bool may_ask(std::uint32_t set) const;
  void failed(OfferedTypes::OfSet& of, const std::string& set, const std::string& code,
              const std::string& why, Now now);
  void refused(OfferedTypes::OfSet& of, const OfferingsFetched& event, std::uint32_t set, Now now);
  void tell(const std::string& set, const OfferedTypes::Taken& taken, Now now);

  const model::SitePolicy& policy_;
  const Sets& sets_;
  OfferedTypes& offered_;
  CallGates& gates_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch

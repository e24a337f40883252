#pragma once

#include <set>
#include <string>

#include "core/dispatch/events.h"
#include "core/dispatch/state/questions/offered_types.h"
#include "core/dispatch/state/questions/questions.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Asks sets what they offer, and takes the answers.
class OfferingEvents {
 public:
  OfferingEvents(const model::SitePolicy& policy, const Sets& sets, OfferedTypes& offered,
                 Questions& questions, Recorder& recorder)
      : policy_(policy),
        sets_(sets),
        offered_(offered),
        questions_(questions),
        recorder_(recorder) {}

  void send_due(std::uint32_t set, Now now);
  /// True: other types are offered than before, or at other prices.
  /// `in_use`: the types that hosts have.
  [[nodiscard]] bool on(const OfferingsFetched& event, const std::set<std::string>& in_use,
                        Now now);
  /// Also after the start: from now on the sets are asked.
  void policy_changed(Now now);

 private:
  void failed(const Questions::Name& question, model::CloudErrorClass cls, const std::string& why,
              Now now);
  void tell(const std::string& set, const OfferedTypes::Taken& taken, Now now);

  const model::SitePolicy& policy_;
  const Sets& sets_;
  OfferedTypes& offered_;
  Questions& questions_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch

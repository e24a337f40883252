#pragma once

#include <cstdint>
#include <string>

#include "core/dispatch/events.h"
#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/images.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Asks clouds for the images of the configuration's queries. The last one that was found stays in
/// use while a cloud finds none, and is journalled: a restart needs no answer.
class ImageLookups {
 public:
  ImageLookups(const model::SitePolicy& policy, Sets& sets, Images& images, CallGates& gates,
               PlanState& plan, Recorder& recorder)
      : policy_(policy),
        sets_(sets),
        images_(images),
        gates_(gates),
        plan_(plan),
        recorder_(recorder) {}

  /// Sends the lookups of the set that are due.
  void send_due(std::uint32_t set, Now now);
  void on(const ImagesFetched& event, Now now);
  /// Another driver of the set is used: it may find what the one before has not.
  void on(const SuccessorOpened& event, Now now);
  void policy_changed(Now now);

 private:
  void found(const std::string& set, const model::ImageQuery& query, FoundImage& known,
             const model::Image& newest, Now now);
  void found_none(const std::string& set, const model::ImageQuery& query, FoundImage& known,
                  model::CloudErrorClass cls, std::string why, Now now);

  const model::SitePolicy& policy_;
  Sets& sets_;
  Images& images_;
  CallGates& gates_;
  PlanState& plan_;
  Recorder& recorder_;
  std::uint64_t calls_ = 0;
};

}  // namespace hostler::dispatch

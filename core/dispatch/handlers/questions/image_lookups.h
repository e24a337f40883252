#pragma once

#include <cstdint>
#include <string>

#include "core/dispatch/events.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/questions/images.h"
#include "core/dispatch/state/questions/questions.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Asks clouds for the images of the configuration's queries. The last one that was found stays in
/// use while a cloud finds none, and is journalled: a restart needs no answer.
class ImageLookups {
 public:
  ImageLookups(const model::SitePolicy& policy, const Sets& sets, Images& images,
               Questions& questions, PlanState& plan, Recorder& recorder)
      : policy_(policy),
        sets_(sets),
        images_(images),
        questions_(questions),
        plan_(plan),
        recorder_(recorder) {}

  /// Sends the lookups of the set that are due.
  void send_due(std::uint32_t set, Now now);
  void on(const ImagesFetched& event, Now now);
  /// Also after the start: from now on its queries are asked.
  void policy_changed(Now now);

 private:
  void found(const std::string& set, const model::ImageQuery& query, FoundImage& known,
             const model::Image& newest, Now now);
  void found_none(const Questions::Name& question, FoundImage& known, model::CloudErrorClass cls,
                  std::string why, Now now);

  const model::SitePolicy& policy_;
  const Sets& sets_;
  Images& images_;
  Questions& questions_;
  PlanState& plan_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch

#pragma once

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/handlers/tag_repair.h"
#include "core/dispatch/state/menu.h"

namespace hostler::dispatch {

/// Takes the answers to driver calls about one instance.
class CallAnswers {
 public:
  CallAnswers(const model::SitePolicy& policy, Sets& sets, Hosts& hosts, Menu& menu,
              CallGates& gates, PlanState& plan, Recorder& recorder, TagRepair& tags,
              InstanceSteps& steps)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        menu_(menu),
        gates_(gates),
        plan_(plan),
        recorder_(recorder),
        tags_(tags),
        steps_(steps) {}

  void on(const CreateSeen& event, Now now);
  void on(const CreateEnded& event, Now now);
  void on(const DestroyEnded& event, Now now);
  void on(const TagsEnded& event, Now now);
  void on(const PowerEnded& event, Now now);

 private:
  /// Another host of the set that is recorded with this id of the cloud; null: there is none.
  [[nodiscard]] const Host* other_of_id(const Host& than, const std::string& provider_id) const;
  void refuse_stop(const Host& host, const model::CloudError& error, Now now);

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  Menu& menu_;
  CallGates& gates_;
  PlanState& plan_;
  Recorder& recorder_;
  TagRepair& tags_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch

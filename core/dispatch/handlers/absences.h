#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/handlers/tag_repair.h"

namespace hostler::dispatch {

/// Instances that a list omits. The cloud is asked for them by their ids, and a list that omits
/// many is checked before it is believed.
class Absences {
 public:
  Absences(const model::SitePolicy& policy, Sets& sets, Hosts& hosts, CallGates& gates,
           PlanState& plan, Recorder& recorder, TagRepair& tags, InstanceSteps& steps)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        gates_(gates),
        plan_(plan),
        recorder_(recorder),
        tags_(tags),
        steps_(steps) {}

  /// A complete list of the set, sent at `sent`, showed the instances `seen`. O(instances of the
  /// site).
  void after_list(std::uint32_t set, std::vector<model::InstanceId> seen, Mono sent, Now now);
  /// Sends a look-up, and gives up waiting for answers, if one of these is due.
  void send_due(std::uint32_t set, Now now);
  void on(const InstancesLookedUp& event, Now now);
  /// An admin says that the set's last list is right.
  void on(const BelieveList& event, Now now);

 private:
  void look_up_failed(Set& set, const InstancesLookedUp& event, Now now);
  /// The records of a look-up, by id and by the id of the spot request.
  using Answers = std::unordered_map<std::string_view, const model::ListedInstance*>;
  [[nodiscard]] static Answers by_id(const std::vector<model::ListedInstance>& all);
  void judge(Host& host, const Answers& answers, Mono sent, Now now);
  /// Begins, continues or ends the doubt about the set's last list, which omits so many of the
  /// instances that it should show.
  void review(std::uint32_t set, std::size_t omitted, std::size_t expected, Now now);
  /// Looks whether all answers are in.
  void count_answers(Set& set, Now now);

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  CallGates& gates_;
  PlanState& plan_;
  Recorder& recorder_;
  TagRepair& tags_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch

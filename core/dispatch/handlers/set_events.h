#pragma once

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/questions/images.h"

namespace hostler::dispatch {

/// Opens sets, and handles the answers to these calls. A set whose cloud reports another account
/// than the stored one is closed: its instances are not in that cloud.
class SetEvents {
 public:
  SetEvents(const model::SitePolicy& policy, Sets& sets, Hosts& hosts, Images& images,
            CallGates& gates, PlanState& plan, Recorder& recorder)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        images_(images),
        gates_(gates),
        plan_(plan),
        recorder_(recorder) {}

  /// Opens the set if that is due.
  void send_due(std::uint32_t set, Now now);
  void on(SetOpened& event, Now now);
  /// The answer of an open driver says whether it is used, whatever the one before has said.
  void on(SuccessorOpened& event, Now now);
  /// Opens a closed set without a pause.
  void on(const CredentialsRenewed& event, Now now);
  /// True: it is accepted.
  bool on(const AcceptAccount& event, Now now);
  /// The policy was replaced: asks all sets for their account again, the closed ones without a
  /// pause, and for the quota groups of new types.
  void policy_changed(Now now);

 private:
  void ask_open(Set& set, Now now);
  void judge(Set& set, model::SetInfo info, Now now);
  void open_failed(Set& set, const model::CloudError& error, Now now);
  void refuse_account(Set& set, model::SetInfo info, Now now);
  void open(Set& set, model::SetInfo info, Now now);

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  Images& images_;
  CallGates& gates_;
  PlanState& plan_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch

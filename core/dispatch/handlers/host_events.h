#pragma once

#include "core/dispatch/handlers/attempt_events.h"
#include "core/dispatch/handlers/card_events.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/handlers/interruptions.h"
#include "core/dispatch/handlers/lease_takeover.h"
#include "core/dispatch/handlers/output_events.h"

namespace hostler::dispatch {

/// Reports of hosts: of their links, their agents and their attempts.
class HostEvents {
 public:
  HostEvents(const model::SitePolicy& policy, Hosts& hosts, HostCommands& commands, Menu& menu,
             PlanState& plan, Recorder& recorder, InstanceSteps& steps, Lending& lending,
             LeaseTakeover& takeover, AttemptEvents& attempts, Interruptions& interruptions,
             OutputEvents& outputs, CardEvents& cards)
      : policy_(policy),
        hosts_(hosts),
        commands_(commands),
        menu_(menu),
        plan_(plan),
        recorder_(recorder),
        steps_(steps),
        lending_(lending),
        takeover_(takeover),
        attempts_(attempts),
        interruptions_(interruptions),
        outputs_(outputs),
        cards_(cards) {}

  /// An event of a host that is gone has no effect.
  void on(const model::HostEvent& event, Now now);
  /// See AttemptEvents. Called after each list, as hosts may be connected for months. O(hosts).
  void judge_left_alone(Now now);

 private:
  void on(Host& host, const model::HostNotYet& event, Now now);
  void on(Host& host, const model::HostInitFailed& event, Now now);
  void on(Host& host, const model::HostVerified& event, Now now);
  void on(Host& host, const model::HostBooted& event, Now now);
  void on(Host& host, const model::HostKeyAlarm& event, Now now);
  void on(Host& host, const model::RotationProposed& event, Now now);
  void on(Host& host, const model::RotationEnded& event, Now now);
  void on(Host& host, const model::CommandProposed& event, Now now);
  void on(Host& host, const model::CommandEnded& event, Now now);
  void on(Host& host, const model::HostReady& event, Now now);
  void on(Host& host, const model::HostCards& event, Now now);
  void on(Host& host, const model::HostLost& event, Now now);
  void on(Host& host, const model::HostBroken& event, Now now);
  void on(Host& host, const model::HostInterruption& event, Now now);
  void on(Host& host, const model::OutputProgress& event, Now now);
  void judge_ram(Host& host, const model::HostReady& event, Now now);
  void learn_ram(const Host& host, Now now);
  void learn_scratch(const Host& host);
  /// Events of attempts.
  template <class Event>
  void on(Host& host, const Event& event, Now now) {
    attempts_.on(host, event, now);
  }

  const model::SitePolicy& policy_;
  Hosts& hosts_;
  HostCommands& commands_;
  Menu& menu_;
  PlanState& plan_;
  Recorder& recorder_;
  InstanceSteps& steps_;
  Lending& lending_;
  LeaseTakeover& takeover_;
  AttemptEvents& attempts_;
  Interruptions& interruptions_;
  OutputEvents& outputs_;
  CardEvents& cards_;
};

}  // namespace hostler::dispatch

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dispatch/events.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/questions/leftovers.h"
#include "core/dispatch/state/questions/questions.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/set_aside.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Lists disks, addresses and other things that outlived their instances. Those that complete lists
/// show, from one to another that was sent `leftovers_after` after it came, are confirmed. This
/// time begins anew with each start of the daemon. LeftoverDestroys destroys them.
class LeftoverSweeps {
 public:
  LeftoverSweeps(const model::SitePolicy& policy, const Sets& sets, Leftovers& leftovers,
                 Questions& questions, const Hosts& hosts, const SetAside& set_aside,
                 Recorder& recorder)
      : policy_(policy),
        sets_(sets),
        leftovers_(leftovers),
        questions_(questions),
        hosts_(hosts),
        set_aside_(set_aside),
        recorder_(recorder) {}

  /// Sends the list of the set if it is due.
  void send_due(std::uint32_t set, Now now);
  void on(const LeftoversListed& event, Now now);
  /// Instances that a list shows have outlived nothing. After the list was applied.
  void on(const SetListed& event, Now now);
  /// Another project or account may have other things of the same ids.
  void on(const SuccessorOpened& event);
  void on(const AcceptAccount& event);
  /// Also after the start: from now on the sets are asked.
  void policy_changed(Now now);

 private:
  void begin_anew(std::uint32_t set);
  void take(std::uint32_t set, const std::vector<model::Leftover>& list, Mono sent, Now now);
  void list_failed(const Questions::Name& question, const std::string& why,
                   model::CloudErrorClass cls, Now now);
  void tell_confirmed(std::uint32_t set, const std::vector<ThingName>& fresh, Now now);

  const model::SitePolicy& policy_;
  const Sets& sets_;
  Leftovers& leftovers_;
  Questions& questions_;
  const Hosts& hosts_;
  const SetAside& set_aside_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dispatch/events.h"
#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/leftovers.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/set_aside.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Sweeps disks, addresses and other things that outlived their instances. A thing is destroyed
/// only if all of this holds:
///
/// - The configuration says so, and the thing has the tags of this owner and this set.
/// - It names its instance, and no instance of that id or key is known here, in whatever state: a
///   create that waits for its answer, or was given up, is known.
/// - Complete lists show it, from one to another that was sent `leftovers_after` after it came.
/// - A later complete list of instances, which nobody doubts, does not show its instance.
/// - It is not younger than some minutes, as far as the cloud says when it was made.
///
/// The time of the third begins anew with each start of the daemon.
class LeftoverSweeps {
 public:
  LeftoverSweeps(const model::SitePolicy& policy, Sets& sets, Leftovers& leftovers,
                 const Hosts& hosts, const SetAside& set_aside, CallGates& gates,
                 Recorder& recorder)
      : policy_(policy),
        sets_(sets),
        leftovers_(leftovers),
        hosts_(hosts),
        set_aside_(set_aside),
        gates_(gates),
        recorder_(recorder) {}

  /// Sends the list and the destroys of the set that are due.
  void send_due(std::uint32_t set, Now now);
  void on(const LeftoversListed& event, Now now);
  void on(const LeftoverDestroyed& event, Now now);
  /// Instances that a list shows have outlived nothing. After the list was applied.
  void on(const SetListed& event, Now now);
  /// Another driver of the set is used: it may be able to list them.
  void on(const SuccessorOpened& event, Now now);
  void on(const AcceptAccount& event, Now now);
  void policy_changed(Now now);

 private:
  void begin_anew(std::uint32_t set, Now now);
  void send_list(std::uint32_t set, Now now);
  void send_destroys(std::uint32_t set, Now now);
  void destroy(std::uint32_t set, const ThingName& name, Thing& thing, Now now);
  void take(std::uint32_t set, const std::vector<model::Leftover>& list, Now now);
  void list_failed(std::uint32_t set, const std::string& why, model::CloudErrorClass cls, Now now);
  void tell_confirmed(std::uint32_t set, const std::vector<ThingName>& fresh, Now now);
  /// The lists of instances show what exists: nothing about them is doubted or still to come.
  [[nodiscard]] bool trusts_lists(std::uint32_t set) const;
  [[nodiscard]] bool may_destroy(std::uint32_t set, const Thing& thing, Now now) const;
  [[nodiscard]] KnownInstances known(std::uint32_t set) const;

  const model::SitePolicy& policy_;
  Sets& sets_;
  Leftovers& leftovers_;
  const Hosts& hosts_;
  const SetAside& set_aside_;
  CallGates& gates_;
  Recorder& recorder_;
  std::uint64_t lists_ = 0;
};

}  // namespace hostler::dispatch

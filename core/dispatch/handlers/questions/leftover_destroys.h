#pragma once

#include <cstdint>

#include "core/dispatch/events.h"
#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/questions/leftovers.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/set_aside.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Destroys things that outlived their instances, only if all of this holds:
///
/// - The configuration says so, and the thing has the tags of this owner and this set.
/// - It names its instance, and no instance of that id or key is known here, in whatever state: a
///   create that waits for its answer, or was given up, is known.
/// - It is confirmed, see LeftoverSweeps.
/// - A later complete list of instances, which nobody doubts, does not show its instance.
/// - It is not younger than some minutes, as far as the cloud says when it was made.
class LeftoverDestroys {
 public:
  LeftoverDestroys(const model::SitePolicy& policy, const Sets& sets, Leftovers& leftovers,
                   const Hosts& hosts, const SetAside& set_aside, CallGates& gates,
                   Recorder& recorder)
      : policy_(policy),
        sets_(sets),
        leftovers_(leftovers),
        hosts_(hosts),
        set_aside_(set_aside),
        gates_(gates),
        recorder_(recorder) {}

  /// Sends the destroys of the set that are due.
  void send_due(std::uint32_t set, Now now);
  void on(const LeftoverDestroyed& event, Now now);

 private:
  [[nodiscard]] bool may_destroy(std::uint32_t set, const Thing& thing, Now now) const;
  void destroy(std::uint32_t set, const ThingName& name, Thing& thing, Now now);

  const model::SitePolicy& policy_;
  const Sets& sets_;
  Leftovers& leftovers_;
  const Hosts& hosts_;
  const SetAside& set_aside_;
  CallGates& gates_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch

#pragma once

#include "core/dispatch/events.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Notices when half of a set's connected hosts become unreachable at once. That is rather a fault
/// of the network than of the hosts, so none of them is ended for it, for a long time.
class Reachability {
 public:
  Reachability(const model::SitePolicy& policy, Sets& sets, Hosts& hosts, PlanState& plan,
               Recorder& recorder)
      : policy_(policy), sets_(sets), hosts_(hosts), plan_(plan), recorder_(recorder) {}

  /// After each step of the instance.
  void update(Host& host, Now now);
  void forget(const Host& host);
  /// The deadline of a host has passed that cannot be reached. True: it is not ended now, because a
  /// partition began; its deadline was moved.
  bool holds(Host& host, Now now);
  /// An admin gives up the unreachable hosts of a set.
  void on(const GiveUpUnreachable& event, Now now);
  /// Kept for people only: links try again by themselves.
  void on(const JumpHostChanged& event, Now now);

 private:
  /// `n` hosts of the set became unreachable within a probe timeout.
  [[nodiscard]] bool is_mass(const Set& set, std::size_t n) const;
  void begin(Set& set, std::uint32_t index, std::size_t hosts, Now now);
  /// A host that was lost at this time answers again.
  [[nodiscard]] static bool ends_partition(const Set& set, Mono lost_at);
  /// Each unreachable host is due now, or has its probe timeout from now on.
  void end(Set& set, const char* actor, const std::string& why, bool at_once, Now now);
  [[nodiscard]] std::vector<model::InstanceId> unverified(const Host& like) const;

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  PlanState& plan_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch

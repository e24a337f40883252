#pragma once

#include "core/dispatch/state/host.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Makes the planner's view of a host. The view says nothing about gates. It depends on the policy,
/// the host's set and the menu: after a change of one of these, the views of all hosts are made
/// again.
class HostViewer {
 public:
  HostViewer(const model::SitePolicy& policy, const Sets& sets, const Menu& menu)
      : policy_(policy), sets_(sets), menu_(menu) {}

  [[nodiscard]] scheduler::HostView view(const Host& host) const;
  /// Only an admin ends it now: it is held, was restored from a backup, or its set spares it.
  [[nodiscard]] bool is_kept(const Host& host) const;
  /// How many jobs may run on it at the same time. None, also no job that needs nothing, if its
  /// type has left the menu: nothing is known of it then. None if its set is stopped: the rows may
  /// be old, and the jobs that wait may have run.
  [[nodiscard]] std::int32_t jobs_max(const fleet::Instance& instance) const;
  /// How many more jobs and leases may be placed on it: as jobs_max() and its uses allow.
  [[nodiscard]] std::int32_t attempts_left(const fleet::Instance& instance) const;
  /// It is switched off, and a call to start it may be made.
  [[nodiscard]] bool can_wake(const Host& host) const;
  /// Instances like this one can be kept switched off.
  [[nodiscard]] bool can_stop(std::uint32_t set, const std::string& type,
                              model::Market market) const {
    return sets_.has_power(set, market) && !menu_.refuses_stop(set, type);
  }

 private:
  /// As HostView::power_unknown.
  [[nodiscard]] bool is_power_unknown(const Host& host) const;
  /// Of one that has not reported: what others of its type have reported.
  [[nodiscard]] model::Resources room_of(const fleet::Instance& instance) const;
  /// Which cards it has, and which of them are free.
  void add_cards(const fleet::Instance& instance, scheduler::HostView& out) const;
  /// In a pool that an outside scheduler sizes, its agent says what the host is.
  static void add_agent(const fleet::Instance& instance, scheduler::HostView& out);

  const model::SitePolicy& policy_;
  const Sets& sets_;
  const Menu& menu_;
};

/// The state of the agent on a host that is on, in a pool that an outside scheduler sizes.
[[nodiscard]] scheduler::AgentState agent_state_of(const fleet::Instance& instance);
/// The same as a word: "coming", "idle", "busy", "lost"; "leaving" or "off" of other hosts.
[[nodiscard]] const char* agent_text(const fleet::Instance& instance);

}  // namespace hostler::dispatch

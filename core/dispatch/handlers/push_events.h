#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dispatch/events.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/pool_bounds.h"
#include "core/dispatch/state/pushes.h"
#include "core/dispatch/state/waiting_work.h"

namespace hostler::dispatch {

/// Pushes of outside schedulers: what they say of their agents, what they need, and what they are
/// told (docs/pushed.md).
class PushEvents {
 public:
  struct Owners {
    const model::SitePolicy& policy;
    const Menu& menu;
    Hosts& hosts;
    WaitingWork& waiting;
    Pushes& pushes;
    PoolBounds& bounds;
    PlanState& plan;
    Recorder& recorder;
  };
  PushEvents(const Owners& owners, InstanceSteps& steps) : owners_(owners), steps_(steps) {}

  /// After the hosts are there.
  void restore(const std::vector<model::PusherRecord>& pushers, Now now);
  /// Pools may be pushed now that were not, or the reverse, or have other sizes and times.
  void policy_changed(Now now);
  /// O(hosts + agents + tasks log tasks). The answer leaves once all that it rests on is durable.
  void on(PushReceived& event, Now now);
  /// A plan says which hosts are to go. Those that wait for their scheduler are in `going`; those
  /// that end now are among `shutdowns`.
  void planned(const scheduler::Plan& plan, Now now);
  /// Hosts without agent do not count as coming any more, and schedulers are silent for too long.
  void fire_due(Now now);

 private:
  using Busy = std::set<model::InstanceId>;
  /// The agents of the pool's hosts as they are now; returns those that are busy.
  Busy take_agents(std::uint32_t pool, const std::string& actor, PushedPool& to, Now now);
  void report(model::InstanceId id, model::AgentReport report, const std::string& actor, Now now);
  /// Holds hosts that run tasks and whose pool is pushed no more. O(hosts).
  void leave_agents(Now now);
  /// All that was said of the host counts no more.
  void forget_agent(model::InstanceId id, const char* actor, Now now);
  /// Nobody could say until now that agents are there.
  void await_agents(std::uint32_t pool, Now now);
  [[nodiscard]] std::set<model::InstanceId> too_old(std::uint32_t pool, Now now) const;
  /// Takes over the demand of `last`, as classes of the plan.
  void count_demand(std::uint32_t pool, PushedPool& to);
  void forget_demand(PushedPool& of);
  [[nodiscard]] model::PushAnswer answer(std::uint32_t pool, PushedPool& to) const;
  void tick(std::uint32_t pool, PushedPool& to, Now now);
  void silent(std::uint32_t pool, PushedPool& of, Silence silence, Now now);
  void look_at_hosts(std::uint32_t pool, Now now);
  [[nodiscard]] std::vector<model::InstanceId> hosts_of(std::uint32_t pool) const;

  const Owners owners_;
  InstanceSteps& steps_;
  std::map<std::string, model::PusherRecord, std::less<>> rows_;  ///< As stored, by pool.
};

}  // namespace hostler::dispatch

#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dispatch/state/deadlines.h"
#include "core/dispatch/state/host.h"
#include "core/dispatch/state/host_viewer.h"
#include "core/dispatch/state/instance_keys.h"
#include "core/scheduler/plan.h"

namespace hostler::dispatch {

/// All instances that are not gone. A host is changed only through change() or add(), so every host
/// that may have changed is viewed again before the planner sees it.
class Hosts {
 public:
  using Map = std::map<model::InstanceId, Host>;

  void restore_last(std::uint64_t last) { last_ = last; }
  /// The id of the host that is added next.
  [[nodiscard]] model::InstanceId next_id() const { return {last_ + 1}; }
  /// A new host, with next_id() as its id.
  Host& add(Host made);
  /// Adds a host of the journal.
  Host& restore(Host known);
  /// Removes the host, its keys and its deadline. It must have no attempts and claims left.
  void erase(model::InstanceId id);

  /// The host, to change it; null if there is none. Valid until the host is erased. What the last
  /// list says of it is taken anew from the next list.
  Host* change(model::InstanceId id);
  [[nodiscard]] const Host* find(model::InstanceId id) const;
  [[nodiscard]] const Map& all() const { return hosts_; }
  [[nodiscard]] bool empty() const { return hosts_.empty(); }
  [[nodiscard]] std::vector<model::InstanceId> ids() const;

  /// The host that the cloud lists as `seen`, by its key, or by its cloud id if it has no key.
  [[nodiscard]] std::optional<model::InstanceId> find_listed(
      const std::string& set, const model::ListedInstance& seen) const {
    return keys_.find(set, seen);
  }
  /// Hosts by their ids in the cloud.
  using CloudIds = std::unordered_map<std::string_view, std::optional<model::InstanceId>>;
  /// Adds the hosts of the set to their ids, where these are wanted: one may be listed without its
  /// key, or with another. O(hosts).
  void find_by_cloud_ids(const std::string& set, CloudIds& ids) const;

  /// Sets the host's entries in the deadlines to the present deadlines of its instance.
  void schedule(const Host& host) {
    deadlines_.set(host.id(), host.instance.deadline);
    notices_.set(host.id(), host.instance.notices.deadline());
    outputs_.set(host.id(), host.instance.occupancy.output_due());
    drains_.set(host.id(), host.instance.ending.drain.deadline());
    agents_.set(host.id(), host.instance.link.outside.deadline());
  }
  /// The same of the notices.
  std::optional<model::InstanceId> pop_notice_due(Mono now) { return notices_.pop_due(now); }
  /// The same of output that it has to send.
  std::optional<model::InstanceId> pop_output_due(Mono now) { return outputs_.pop_due(now); }
  /// The same of drains that have not become quiet.
  std::optional<model::InstanceId> pop_drain_due(Mono now) { return drains_.pop_due(now); }
  /// The same of hosts without the agent of their outside scheduler, which count as coming.
  std::optional<model::InstanceId> pop_agent_due(Mono now) { return agents_.pop_due(now); }
  /// The hosts of which a drain is under way.
  [[nodiscard]] std::vector<model::InstanceId> draining() const { return drains_.ids(); }
  std::optional<model::InstanceId> pop_due(Mono now) { return deadlines_.pop_due(now); }
  [[nodiscard]] Mono next_deadline() const {
    return std::min(
        {deadlines_.next(), notices_.next(), outputs_.next(), drains_.next(), agents_.next()});
  }

  /// Keeps the host free for this class until the first item of the class is placed there.
  void reserve(model::InstanceId id, demand::ClassId cls);
  void clear_reservations();

  /// These hosts get no new work, and others may.
  void close(const std::vector<scheduler::Close>& closed);

  /// Makes the next refresh_views() view all hosts: other data on which views depend has changed (a
  /// set, an offering, the policy).
  void touch_all();
  /// Views each touched host again. True: the planner would see a host differently, so a plan may
  /// have new actions.
  bool refresh_views(const HostViewer& viewer);
  /// Every host as the planner sees it, by id, as if no gate were shut. After refresh_views().
  [[nodiscard]] const std::vector<scheduler::HostView>& views() const;

 private:
  static void unsettle(Host& host);

  Map hosts_;
  std::uint64_t last_ = 0;
  InstanceKeys keys_;
  Deadlines deadlines_, notices_, outputs_, drains_, agents_;
  std::vector<scheduler::HostView> views_;
  std::vector<model::InstanceId> touched_;  ///< Perhaps changed since their last view.
  std::vector<model::InstanceId> reserved_, closed_;
};

/// Hosts with output that is still to come, and what they cost.
struct CollectingHosts {
  std::size_t hosts = 0;
  std::size_t waiting_jobs = 0;  ///< Whose output has no room here.
  model::Micros price_per_hour;
};
[[nodiscard]] CollectingHosts collecting(const Hosts& hosts);

}  // namespace hostler::dispatch

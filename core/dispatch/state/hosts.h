#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/state/deadlines.h"
#include "core/dispatch/state/host.h"
#include "core/dispatch/state/host_viewer.h"
#include "core/dispatch/state/instance_keys.h"

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
  /// A host that the journal knew.
  Host& restore(Host known);
  /// Forgets the host, its keys and its deadline. Its attempts are removed before.
  void erase(model::InstanceId id);

  /// To be changed; null if it is not here. Valid until the host is erased.
  Host* change(model::InstanceId id);
  [[nodiscard]] const Host* find(model::InstanceId id) const;
  [[nodiscard]] const Map& all() const { return hosts_; }
  [[nodiscard]] bool empty() const { return hosts_.empty(); }
  [[nodiscard]] std::vector<model::InstanceId> ids() const;

  /// The host that the cloud lists as `seen`.
  [[nodiscard]] std::optional<model::InstanceId> find_listed(
      const std::string& set, const model::ListedInstance& seen) const;

  /// The host's deadline, as its instance has it now, fires Due.
  void schedule(const Host& host) { deadlines_.set(host.id(), host.instance.deadline); }
  std::optional<model::InstanceId> pop_due(Mono now) { return deadlines_.pop_due(now); }
  [[nodiscard]] Mono next_deadline() const { return deadlines_.next(); }

  /// Nothing but this class goes on the host until its first item is placed there.
  void reserve(model::InstanceId id, scheduler::ClassId cls);
  void clear_reservations();

  /// The next refresh_views() looks at every host: data that views depend on besides the host has
  /// changed (its set, its offering, the policy).
  void touch_all();
  /// Views each touched host again. True: one looks different to the planner, so a plan is worth
  /// making.
  bool refresh_views(const HostViewer& viewer);
  /// Every host as the planner sees it, by id, as if no gate were shut. After refresh_views().
  [[nodiscard]] const std::vector<scheduler::HostView>& views() const;

 private:
  Map hosts_;
  std::uint64_t last_ = 0;
  InstanceKeys keys_;
  Deadlines deadlines_;
  std::vector<scheduler::HostView> views_;
  std::vector<model::InstanceId> touched_;  ///< Changed, perhaps; not viewed since.
  std::vector<model::InstanceId> reserved_;
};

}  // namespace hostler::dispatch

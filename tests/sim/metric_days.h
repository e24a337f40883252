#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/random.h"
#include "core/dispatch/dispatcher.h"
#include "core/simulation/timeline.h"
#include "tests/sim/day.h"
#include "tests/sim/decisions.h"
#include "tests/sim/disk.h"

namespace hostler::sim {

/// A pool whose bounds are expressions over a metric, on one day in five. Readings have gaps,
/// spikes and resets, flip, fail, and are no numbers; drains fail, hang and end twice. Its choices
/// are apart from all others.
///
/// Checks that what is unknown lets no host go, that plans have the bounds that follow from the
/// last reading, that nothing shrinks after a start before the metric was read, that the command
/// of a drain runs once, after its row, and that a host that drains gets no work.
class MetricDays {
 public:
  using Reply = std::function<void(Duration, dispatch::Event)>;

  MetricDays(std::uint64_t seed, const Disk& disk, Disk::Complain complain)
      : disk_(disk), complain_(std::move(complain)), random_(seed ^ 0x3e7) {}
  static bool is_of(std::uint64_t seed) { return seed % 5 == 4; }

  /// Of the pool, and which metrics there are. `fleet`: the most hosts that it may have.
  void set_policy(model::SitePolicy& policy, std::int32_t fleet);
  /// The readings of one moment; nullopt: none comes. Without faults nothing is wanted.
  [[nodiscard]] std::optional<dispatch::MetricsRead> read(bool faults, Now now);
  [[nodiscard]] static Duration interval() { return 5s; }

  void daemon_started();
  /// Before anybody spoils the plan.
  void planned(const scheduler::Snapshot& snapshot, const scheduler::Plan& plan,
               const model::SitePolicy& policy, Now now);
  /// A planner with a bug: it places what waits on hosts that drain.
  void spoil(scheduler::Plan& plan, const scheduler::Snapshot& snapshot, bool faults);
  /// The command runs now.
  void drain(const dispatch::DrainCall& call, bool faults, const Reply& reply);
  /// What the daemon has decided, before it is durable.
  void check(const dispatch::Outbox& outbox);

 private:
  [[nodiscard]] double next_demand(bool faults);
  /// What the rules say of the reading: the number that bounds go by, or nothing.
  void judge(std::optional<double> value, Mono now);
  void check_bounds(const scheduler::Snapshot& snapshot, Now now);
  void check_host(const model::InstanceRecord& row);
  void check_start(const model::WorkRecord& row);
  void check_held(const scheduler::Snapshot& snapshot, const scheduler::Plan& plan);

  const Disk& disk_;
  const Disk::Complain complain_;
  Random random_;
  model::MetricPolicy demand_;
  bool is_direct_ = false;  ///< No rule of scaling changes what the texts give.
  double level_ = 20;       ///< The demand, apart from faults.
  int silent_ = 0;          ///< So many readings do not come.
  bool is_seen_ = false;    ///< A reading had a value since the start of the daemon.
  bool is_good_ = false;    ///< The last one.
  double value_ = 0;        ///< Of the last reading, if it was good.
  std::optional<double> before_;
  std::int64_t fleet_ = 0, ceiling_ = 0;
  std::optional<Mono> first_good_, last_good_;
  Mono read_at_ = Mono::min();  ///< The last reading, good or not.
  Wall taken_;
  std::set<model::InstanceId> drained_;  ///< A command has run, and they were not off since.
  std::set<model::InstanceId> closed_;   ///< As decided: they drain, or their drain is over.
};

}  // namespace hostler::sim

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/demand/lane_caps.h"
#include "core/demand/queue.h"
#include "core/model/dump.h"
#include "core/model/policy.h"
#include "core/model/views.h"
#include "core/scheduler/bounds.h"
#include "core/scheduler/snapshot.h"
#include "core/work/job.h"

namespace hostler::dispatch {

struct State;
struct LiveWork;
struct Submit;
struct SubmitLease;

/// What a plan would see now.
struct Look {
  std::shared_ptr<const scheduler::Snapshot> snapshot;
  std::shared_ptr<const model::SitePolicy> policy;  ///< The snapshot's indices refer to it.
};
/// The same with jobs that somebody may submit. No number is given out for them.
struct TrialLook {
  Look look;
  std::vector<demand::ClassId> jobs;  ///< The class of each job, in their order.
  /// Why the items of a class beyond its view's count wait: the running limits of who asks.
  std::string beyond;
  /// How long hosts of each offering took to boot lately; unset: none that is alive has booted.
  std::vector<std::optional<Duration>> boots;
};

/// What a scheduler has pushed for a pool, in numbers.
struct PushStatus {
  std::string pool;
  std::optional<Duration> age;  ///< Of the last push; unset: none since the start.
  std::uint64_t tasks = 0;      ///< That wait and fit.
  std::size_t going = 0;        ///< Hosts that are to go.
};

/// Read-only questions about the dispatcher's state; every answer is a copy. Threads: the
/// dispatcher's.
class Queries {
 public:
  explicit Queries(const State& state) : state_(state) {}

  [[nodiscard]] const model::SitePolicy& policy() const;
  [[nodiscard]] model::Revision revision() const;

  /// kConflict once the state is old: nothing is planned any more. O(hosts + classes + offerings).
  [[nodiscard]] Result<Look> look(Now now) const;
  /// Fails as the submit would now, quotas included. As look(), and O(jobs).
  [[nodiscard]] Result<TrialLook> trial(const Submit& submit, Now now) const;
  [[nodiscard]] Result<TrialLook> trial(const SubmitLease& submit, Now now) const;

  /// Why work of any kind waits; unset if it does not.
  [[nodiscard]] std::optional<model::WaitingView> waiting(model::WorkId work) const;
  /// The same for much work; has only what waits. Scans all classes of the queue: call it once for
  /// much work.
  [[nodiscard]] std::map<model::WorkId, model::WaitingView> waiting(
      const std::vector<model::WorkId>& work) const;
  /// What each principal that holds, waits or used something lately has of the site. O(principals).
  [[nodiscard]] model::SharesView shares(Mono now) const;
  /// Unset if the work does not wait. O(principals).
  [[nodiscard]] std::optional<model::TurnView> turn(model::WorkId work, Mono now) const;
  /// Candidates that the last plan rejected for the work.
  [[nodiscard]] std::vector<model::RejectedView> rejected(model::WorkId work) const;
  /// Unset if there is no such pool, or no such gate that is shut.
  [[nodiscard]] std::optional<model::ReasonsView> reasons_of_pool(const std::string& name,
                                                                  Now now) const;
  [[nodiscard]] std::optional<model::ReasonsView> reasons_of_gate(const std::string& key,
                                                                  Mono now) const;

  /// Without `now`, the `conditions` of instances and sets are left out. Lists of instances say of
  /// their cards only how many are in each state.
  [[nodiscard]] std::vector<model::InstanceView> instances(std::optional<Now> now = {}) const;
  [[nodiscard]] std::optional<model::InstanceView> instance(model::InstanceId id, Now now) const;
  [[nodiscard]] std::vector<model::PoolView> pools() const;
  /// kNotFound: there is no such pool, or no outside scheduler sizes it. O(hosts + tasks).
  [[nodiscard]] Result<model::ScalingInfoView> scaling_info(const std::string& pool, Now now) const;
  /// Of each pool that an outside scheduler sizes.
  [[nodiscard]] std::vector<PushStatus> pushes(Now now) const;
  /// How each metric of the policy is read. O(metrics x keys).
  [[nodiscard]] std::vector<model::MetricStatus> metrics(Now now) const;
  /// Of each pool, by its index in policy().
  [[nodiscard]] std::vector<scheduler::PoolNumbers> bounds() const;
  /// All types that are configured or chosen by a pool. O(offerings).
  [[nodiscard]] std::vector<model::TypeView> types() const;
  [[nodiscard]] std::vector<model::SetView> sets(std::optional<Now> now = {}) const;
  /// Gates that hold calls back now. Other gates only count failures; they are not returned. While
  /// a gate is half-open its `until` is 0, and its message says what is tried.
  [[nodiscard]] std::vector<model::GateRecord> gates(Mono now) const;
  /// Of all principals that have a role or a limit of their own, or had jobs since the start; by
  /// name. Bytes are left out here: the store knows them.
  [[nodiscard]] std::vector<model::QuotaView> quotas(Mono now) const;
  [[nodiscard]] model::QuotaView quota(const std::string& principal, Mono now) const;
  /// How many jobs are in each state, as model::kLiveStates. Unlike totals() at no cost.
  [[nodiscard]] decltype(model::Totals::jobs) job_counts() const;
  [[nodiscard]] model::Totals totals(Mono now) const;

  /// The parts that only a dump shows. O(hosts log hosts + work that is placed).
  [[nodiscard]] model::DumpParts dump_parts(Now now) const;

  /// Nothing waits, runs or is being collected, and no instance is left.
  [[nodiscard]] bool at_rest() const;
  /// No instance is left at all, not even an abandoned one of a set that is no longer configured.
  [[nodiscard]] bool has_no_instances() const;

 private:
  [[nodiscard]] std::optional<LiveWork> find(model::WorkId work) const;
  /// Why the work waits: for its class, or for its user.
  [[nodiscard]] model::WaitingView waiting(const LiveWork& work, const demand::LaneCaps& caps,
                                           const demand::CapRules& rules) const;
  void add_hosts_that_come(const std::vector<model::WorkId>& asked,
                           std::map<model::WorkId, model::WaitingView>& waiting) const;
  void add_failed_starts(std::map<model::WorkId, model::WaitingView>& waiting) const;
  [[nodiscard]] model::RejectedView rejected_view(const scheduler::Offering& offering,
                                                  std::string reason) const;
  void add_demand(const std::vector<demand::ClassId>& classes, model::ReasonsView& out) const;
  [[nodiscard]] std::string ceiling_of(std::uint32_t pool, Mono now) const;
  /// Unset: the pool has a list of types, or the set is not asked what it offers.
  [[nodiscard]] std::optional<model::SelectionView> selection(std::uint32_t pool) const;
  [[nodiscard]] std::optional<model::OfferingsView> offerings(std::uint32_t set) const;
  /// Of the pools that choose types and find none: the end of a sentence.
  [[nodiscard]] std::string selections_that_are_empty() const;

  const State& state_;
};

}  // namespace hostler::dispatch

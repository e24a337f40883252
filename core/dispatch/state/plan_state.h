#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fleet/instance.h"
#include "core/model/ledger.h"
#include "core/model/policy.h"
#include "core/model/views.h"
#include "core/scheduler/plan.h"

namespace hostler::dispatch {

/// When the next plan is made, and what the last one explained: why work waits, which candidates it
/// rejected, what was decided for each pool.
class PlanState {
 public:
  explicit PlanState(const model::SitePolicy& policy);

  // ---- when ------------------------------------------------------------------------------------

  /// Something has changed that is worth a plan.
  void want() { wanted_ = true; }
  [[nodiscard]] bool is_wanted() const { return wanted_; }
  /// A plan is to be made now: none is under way, and the last one is plan_interval ago.
  [[nodiscard]] bool is_due(Mono now) const;
  /// A plan is under way from now on; returns its number. `wake`: when time alone makes the next
  /// plan worth making.
  std::uint64_t begin(Mono now, Mono wake);
  /// The answer has come. False: it is of a plan that was given up.
  bool end(std::uint64_t number);
  /// What has happened while a plan was applied is no reason for another one, unless `wanted`.
  void set_wanted(bool wanted) { wanted_ = wanted; }
  void wake_at(Mono when);
  [[nodiscard]] Mono next_wake() const;
  /// The policy has changed: a plan under way is given up, rejections are of old offerings.
  void reload(const model::SitePolicy& policy);
  /// The policy for a planner on another thread.
  [[nodiscard]] std::shared_ptr<const model::SitePolicy> policy() const { return policy_; }

  // ---- what it explained -----------------------------------------------------------------------

  /// Replaces the explanations of the plan before. Keeps at most 32 rejections of a class.
  void explain(std::vector<scheduler::Waiting> waiting, std::vector<scheduler::Rejected> rejected);
  /// Without a plan that looked at it, the class waits for the next plan.
  [[nodiscard]] model::WaitingView waiting(scheduler::ClassId cls) const;
  [[nodiscard]] const std::vector<scheduler::Rejected>& rejected(scheduler::ClassId cls) const;
  /// Keeps the last 50 decisions of a pool, oldest first.
  void decided(std::uint32_t pool, const model::LedgerRecord& decision);
  [[nodiscard]] std::vector<model::LedgerRecord> decisions(std::uint32_t pool) const;

 private:
  std::shared_ptr<const model::SitePolicy> policy_;
  bool wanted_ = true;
  bool under_way_ = false;
  std::uint64_t number_ = 0;
  Mono not_before_{};
  Mono wake_ = fleet::kNever;
  std::map<scheduler::ClassId, scheduler::Waiting> waiting_;
  std::map<scheduler::ClassId, std::vector<scheduler::Rejected>> rejected_;
  std::map<std::uint32_t, std::deque<model::LedgerRecord>> decisions_;  ///< By pool.
};

}  // namespace hostler::dispatch

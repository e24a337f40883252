#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/fleet/instance.h"
#include "core/model/ledger.h"
#include "core/model/policy.h"
#include "core/model/views.h"
#include "core/scheduler/plan.h"

namespace hostler::dispatch {

/// When the next plan is made, and the explanations of the last plan: why work waits, which
/// candidates were rejected, which decisions were made for each pool.
class PlanState {
 public:
  explicit PlanState(const model::SitePolicy& policy);

  // ---- when ------------------------------------------------------------------------------------

  /// Requests a plan: a change has made new actions possible.
  void want() { wanted_ = true; }
  [[nodiscard]] bool is_wanted() const { return wanted_; }
  /// A plan must be made now: one is requested, none is under way, and plan_interval has passed.
  [[nodiscard]] bool is_due(Mono now) const;
  /// Starts a plan and returns its number. `wake`: when the next plan is needed even if nothing
  /// changes until then.
  std::uint64_t begin(Mono now, Mono wake);
  /// False: the plan was given up, or has ended.
  [[nodiscard]] bool is_under_way(std::uint64_t number) const {
    return under_way_ && number == number_;
  }
  /// The plan is made and applied slice by slice: another one is due at once.
  void apply_more() { has_slices_ = true; }
  /// Ends the plan, which is under way.
  void end();
  /// Called after a plan was applied: its own changes request no further plan, unless `wanted`.
  void set_wanted(bool wanted) { wanted_ = wanted; }
  void wake_at(Mono when);
  [[nodiscard]] Mono next_wake() const;
  /// The policy has changed: gives up the plan under way, and removes the old rejections.
  void reload(const model::SitePolicy& policy);
  /// The policy for a planner on another thread.
  [[nodiscard]] std::shared_ptr<const model::SitePolicy> policy() const { return policy_; }

  // ---- explanations ----------------------------------------------------------------------------

  /// Replaces the explanations of the previous plan. Keeps at most 32 rejections of a class.
  void explain(std::vector<scheduler::Waiting> waiting, std::vector<scheduler::Rejected> rejected);
  /// Forgets what was known of the supply of classes that are gone from the queue.
  void forget_gone(const demand::Queue& queue);
  /// If the last plan has not considered such items, they wait for the next plan. `is_priced`: why
  /// items with a ClassView::price wait.
  [[nodiscard]] model::WaitingView waiting(demand::ClassId cls, bool is_priced = false) const;
  /// The same of those items for which no host comes, if there are any.
  [[nodiscard]] model::WaitingView waiting_of_rest(demand::ClassId cls) const;
  [[nodiscard]] model::WaitingCode waiting_code(demand::ClassId cls, bool is_priced) const;
  /// What the last plan that saw the class wait knew of hosts for it.
  struct Supply {
    bool is_stuck = false;    ///< None could be had.
    model::Micros part_from;  ///< Waiting::part_from, as last known; 0: never.
  };
  [[nodiscard]] Supply supply(demand::ClassId cls) const;
  [[nodiscard]] const std::vector<scheduler::Rejected>& rejected(demand::ClassId cls) const;
  /// Keeps the last 50 decisions of a pool, oldest first.
  void decided(std::uint32_t pool, const model::LedgerRecord& decision);
  [[nodiscard]] std::vector<model::LedgerRecord> decisions(std::uint32_t pool) const;

 private:
  void note_supply(const scheduler::Waiting& one);

  std::shared_ptr<const model::SitePolicy> policy_;
  bool wanted_ = true;
  bool under_way_ = false;
  bool has_slices_ = false;  ///< Of the plan under way: some are not applied yet.
  std::uint64_t number_ = 0;
  Mono not_before_{};
  Mono wake_ = fleet::kNever;
  std::map<std::pair<demand::ClassId, bool>, scheduler::Waiting> waiting_;  ///< Is priced?
  std::unordered_map<demand::ClassId, Supply> supply_;  ///< Kept while nothing waits.
  std::map<demand::ClassId, std::vector<scheduler::Rejected>> rejected_;
  std::map<std::uint32_t, std::deque<model::LedgerRecord>> decisions_;  ///< By pool.
};

}  // namespace hostler::dispatch

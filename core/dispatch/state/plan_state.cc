#include "core/dispatch/state/plan_state.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::dispatch {
namespace {

constexpr std::size_t kRejectedKept = 32;   ///< Of a class.
constexpr std::size_t kDecisionsKept = 50;  ///< Of a pool.

}  // namespace

PlanState::PlanState(const model::SitePolicy& policy)
    : policy_(std::make_shared<const model::SitePolicy>(policy)) {}

bool PlanState::is_due(Mono now) const {
  return (wanted_ || wake_ <= now) && !under_way_ && not_before_ <= now;
}

std::uint64_t PlanState::begin(Mono now, Mono wake) {
  HOSTLER_ASSERT(!under_way_, "one plan at a time is under way");
  wanted_ = false;
  under_way_ = true;
  wake_ = wake;
  not_before_ = now + policy_->plan_interval;
  return ++number_;
}

void PlanState::end() {
  HOSTLER_ASSERT(under_way_, "a plan that ends is under way");
  under_way_ = has_slices_ = false;
}

void PlanState::wake_at(Mono when) { wake_ = std::min(wake_, when); }

Mono PlanState::next_wake() const {
  if (under_way_) return has_slices_ ? Mono{} : fleet::kNever;
  const Mono at = wanted_ ? Mono{} : wake_;
  return at == fleet::kNever ? at : std::max(at, not_before_);
}

void PlanState::reload(const model::SitePolicy& policy) {
  policy_ = std::make_shared<const model::SitePolicy>(policy);
  rejected_.clear();
  if (std::exchange(under_way_, false)) ++number_;
  has_slices_ = false;
  wanted_ = true;
}

void PlanState::explain(std::vector<scheduler::Waiting> waiting,
                        std::vector<scheduler::Rejected> rejected) {
  waiting_.clear();
  for (auto& one : waiting) waiting_[{one.cls, one.is_priced}] = std::move(one);
  for (const auto& [of, one] : waiting_) note_supply(one);
  rejected_.clear();
  for (auto& one : rejected) {
    auto& list = rejected_[one.cls];
    if (list.size() < kRejectedKept) list.push_back(std::move(one));
  }
}

/// The class is stuck until a plan says that a host can be had again. That one host comes for it
/// does not say so: else hosts of its principals' other classes would be ended for it, and be
/// bought again.
void PlanState::note_supply(const scheduler::Waiting& one) {
  Supply& known = supply_[one.cls];
  if (one.part_from) {
    known = {.is_stuck = false, .part_from = *one.part_from};
  } else if (one.code == model::WaitingCode::kReserved) {
    known.is_stuck = false;
  } else if (one.code != model::WaitingCode::kHostComing &&
             waiting_code(one.cls, !one.is_priced) != model::WaitingCode::kHostComing) {
    known.is_stuck = true;
  }
}

void PlanState::forget_gone(const demand::Queue& queue) {
  std::erase_if(supply_, [&](const auto& known) { return queue.find(known.first) == nullptr; });
}

PlanState::Supply PlanState::supply(demand::ClassId cls) const {
  const auto found = supply_.find(cls);
  return found == supply_.end() ? Supply{} : found->second;
}

model::WaitingView PlanState::waiting(demand::ClassId cls, bool is_priced) const {
  const auto found = waiting_.find({cls, is_priced});
  if (found == waiting_.end())
    return {model::WaitingCode::kPlanning, "the next plan looks at it", 0};
  return {found->second.code, found->second.reason, 0};
}

model::WaitingView PlanState::waiting_of_rest(demand::ClassId cls) const {
  const auto found = waiting_.find({cls, false});
  if (found == waiting_.end() || found->second.rest_reason.empty()) return waiting(cls);
  return {found->second.rest_code, found->second.rest_reason, 0};
}

model::WaitingCode PlanState::waiting_code(demand::ClassId cls, bool is_priced) const {
  const auto found = waiting_.find({cls, is_priced});
  return found == waiting_.end() ? model::WaitingCode::kPlanning : found->second.code;
}

const std::vector<scheduler::Rejected>& PlanState::rejected(demand::ClassId cls) const {
  static const std::vector<scheduler::Rejected> kNone;
  const auto found = rejected_.find(cls);
  return found == rejected_.end() ? kNone : found->second;
}

void PlanState::decided(std::uint32_t pool, const model::LedgerRecord& decision) {
  auto& kept = decisions_[pool];
  kept.push_back(decision);
  if (kept.size() > kDecisionsKept) kept.pop_front();
}

std::vector<model::LedgerRecord> PlanState::decisions(std::uint32_t pool) const {
  const auto found = decisions_.find(pool);
  if (found == decisions_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

}  // namespace hostler::dispatch

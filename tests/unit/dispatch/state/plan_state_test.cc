#include "core/dispatch/state/plan_state.h"

#include <gmock/gmock.h>

#include "core/dispatch/state/recorder.h"
#include "tests/unit/dispatch/story.h"

namespace hostler::dispatch {
namespace {

using model::WaitingCode;

TEST(PlanStateTest, OnePlanIsUnderWayAndTheNextWaitsForTheInterval) {
  PlanState plan(small_site());
  EXPECT_TRUE(plan.is_due(Mono(1h)));
  const auto number = plan.begin(Mono(1h), fleet::kNever);
  plan.want();
  EXPECT_FALSE(plan.is_due(Mono(2h))) << "one is under way";
  EXPECT_EQ(plan.next_wake(), fleet::kNever);

  EXPECT_TRUE(plan.is_under_way(number));
  plan.end();
  EXPECT_FALSE(plan.is_under_way(number));
  EXPECT_FALSE(plan.is_due(Mono(1h) + 99ms));
  EXPECT_EQ(plan.next_wake(), Mono(1h) + 100ms);
  EXPECT_TRUE(plan.is_due(Mono(1h) + 100ms));
}

TEST(PlanStateTest, TimeAloneBringsAPlanAtItsWake) {
  PlanState plan(small_site());
  plan.begin(Mono(1h), Mono(3h));
  plan.end();
  EXPECT_FALSE(plan.is_due(Mono(2h)));
  plan.wake_at(Mono(4h));
  EXPECT_EQ(plan.next_wake(), Mono(3h)) << "a later wake does not put it off";
  EXPECT_TRUE(plan.is_due(Mono(3h)));
}

TEST(PlanStateTest, APlanOfAnOldPolicyIsGivenUp) {
  PlanState plan(small_site());
  const auto number = plan.begin(Mono(1h), fleet::kNever);
  plan.explain({}, {{1, 0, "too small"}});
  plan.reload(small_site());
  EXPECT_FALSE(plan.is_under_way(number));
  EXPECT_TRUE(plan.rejected(1).empty()) << "its offerings may be others now";
  EXPECT_TRUE(plan.is_wanted());
}

TEST(PlanStateTest, TheNextSliceOfAPlanIsDueAtOnce) {
  PlanState plan(small_site());
  plan.begin(Mono(1h), fleet::kNever);
  plan.apply_more();
  EXPECT_LE(plan.next_wake(), Mono(1h));
  plan.reload(small_site());
  plan.begin(Mono(2h), fleet::kNever);
  EXPECT_EQ(plan.next_wake(), fleet::kNever) << "of a plan that was given up none is left";
}

TEST(PlanStateTest, AClassThatNoPlanLookedAtWaitsForOne) {
  PlanState plan(small_site());
  const auto unplanned = plan.waiting(7);
  plan.explain({{7, unplanned.code, "another reason"}}, {});
  EXPECT_EQ(plan.waiting(7).reason, "another reason");
  EXPECT_EQ(plan.waiting(8).reason, unplanned.reason);
}

TEST(PlanStateTest, ItemsWithALimitOfPriceWaitForReasonsOfTheirOwn) {
  PlanState plan(small_site());
  plan.explain({{.cls = 7, .code = WaitingCode::kQuota, .reason = "too dear", .is_priced = true}},
               {});
  EXPECT_EQ(plan.waiting(7, true).reason, "too dear");
  EXPECT_EQ(plan.waiting(7).code, WaitingCode::kPlanning);
  EXPECT_EQ(plan.waiting_code(7, true), WaitingCode::kQuota);
  EXPECT_EQ(plan.waiting_code(7, false), WaitingCode::kPlanning);
}

TEST(PlanStateTest, AClassIsStuckUntilAPlanKnowsOfAHostForIt) {
  PlanState plan(small_site());
  const auto say = [&](WaitingCode code, std::optional<model::Micros> part_from = {}) {
    plan.explain({{.cls = 7, .code = code, .reason = "", .part_from = part_from}}, {});
  };
  EXPECT_FALSE(plan.supply(7).is_stuck);
  say(WaitingCode::kHostComing);
  EXPECT_FALSE(plan.supply(7).is_stuck);
  say(WaitingCode::kAtCeiling);
  EXPECT_TRUE(plan.supply(7).is_stuck);
  plan.explain({}, {});
  EXPECT_TRUE(plan.supply(7).is_stuck) << "what waited has a place now: that is no host to be had";
  say(WaitingCode::kHostComing);
  EXPECT_TRUE(plan.supply(7).is_stuck) << "one host, and no more";
  say(WaitingCode::kQuota, model::Micros{300});
  EXPECT_FALSE(plan.supply(7).is_stuck);
  EXPECT_EQ(plan.supply(7).part_from, model::Micros{300});
  say(WaitingCode::kHostComing);
  EXPECT_EQ(plan.supply(7).part_from, model::Micros{300}) << "as last known";
  say(WaitingCode::kGateShut);
  say(WaitingCode::kReserved);
  EXPECT_FALSE(plan.supply(7).is_stuck);
}

TEST(PlanStateTest, KeepsTheLastDecisionsOfAPool) {
  PlanState plan(small_site());
  for (model::Revision rev = 1; rev <= 60; ++rev) {
    model::LedgerRecord decision;
    decision.rev = rev;
    plan.decided(0, decision);
  }
  EXPECT_EQ(plan.decisions(0).size(), 50U);
  EXPECT_EQ(plan.decisions(0).front().rev, 11U);
  EXPECT_TRUE(plan.decisions(1).empty());
}

TEST(RecorderTest, RevisionsGoOnWhereTheJournalEnded) {
  Recorder recorder;
  recorder.restore("us", 3, 41);
  recorder.change(model::GateOpened{"gate"});
  recorder.reply(5, std::vector<WorkId>{});
  const Outbox out = recorder.take();
  EXPECT_EQ(out.changes.size(), 1U);
  EXPECT_EQ(out.effects.size(), 1U);
  EXPECT_EQ(recorder.revision(), 41U) << "only ledger records have revisions";
  EXPECT_TRUE(recorder.take().changes.empty());
}

}  // namespace
}  // namespace hostler::dispatch

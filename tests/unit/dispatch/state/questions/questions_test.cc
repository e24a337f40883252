#include "core/dispatch/state/questions/questions.h"

#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/questions/images.h"
#include "tests/unit/dispatch/story.h"

namespace hostler::dispatch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class QuestionsTest : public testing::Test {
 protected:
  QuestionsTest() {
    recorder.restore("us", 3, 0);
    sets.at(0).opening.opened();
    sets.at(0).info.has_leftovers = true;
    keep({"a"});
  }
  void keep(const std::vector<std::string>& about, CloudOp op = CloudOp::kImages) {
    questions.keep(0, op, about, {10min, 1min}, now);
  }
  /// The numbers of the calls that are due.
  std::vector<std::uint64_t> due(CloudOp op = CloudOp::kImages) {
    std::vector<std::uint64_t> out;
    for (const auto& call : questions.due(0, op, now).calls) out.push_back(call.number);
    return out;
  }
  bool takes(std::uint64_t number, const model::CloudError* error = nullptr) {
    return questions.take(name, number, error, now).has_value();
  }
  void pass(Duration time) { now = {now.mono + time, now.wall + time}; }

  const model::SitePolicy policy = small_site();
  Now now{Mono(100h), Wall{1'700'000'000'000'000}};
  Sets sets{policy};
  const Images images{policy};
  Recorder recorder;
  PlanState plan{policy};
  CallGates gates{policy, sets, images, recorder, plan, 1};
  Questions questions{sets, gates};
  const Questions::Name name{0, CloudOp::kImages, "a"};
};

TEST_F(QuestionsTest, OneIsAskedOnceAtATimeAndAgainInItsTime) {
  const auto first = due();
  ASSERT_THAT(first, SizeIs(1));
  pass(1h);
  EXPECT_THAT(due(), IsEmpty()) << "its answer is awaited";
  EXPECT_EQ(questions.next_wake(), fleet::kNever);
  ASSERT_TRUE(takes(first[0]));
  questions.good(name, now);
  EXPECT_EQ(questions.next_wake(), now.mono + 10min);
  pass(10min - 1s);
  EXPECT_THAT(due(), IsEmpty());
  pass(1s);
  EXPECT_THAT(due(), SizeIs(1));
}

TEST_F(QuestionsTest, NobodyAsksWhileTheSetIsClosed) {
  sets.at(0).opening.closed();
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_EQ(questions.next_wake(), fleet::kNever);
}

TEST_F(QuestionsTest, NobodyAsksADriverThatCannotListLeftovers) {
  keep({""}, CloudOp::kLeftovers);
  sets.at(0).info.has_leftovers = false;
  EXPECT_THAT(due(CloudOp::kLeftovers), IsEmpty());
  sets.at(0).info.has_leftovers = true;
  EXPECT_THAT(due(CloudOp::kLeftovers), SizeIs(1));
}

TEST_F(QuestionsTest, PausesAfterBadAnswersBecomeLongerUpToTheUsualOne) {
  bool is_first = true;
  for (const Duration pause : {Duration(1min), Duration(2min), Duration(4min), Duration(8min),
                               Duration(10min), Duration(10min)}) {
    const auto calls = due();
    ASSERT_THAT(calls, SizeIs(1));
    ASSERT_TRUE(takes(calls[0]));
    EXPECT_EQ(questions.bad(name, CloudErrorClass::kTransient, now),
              std::exchange(is_first, false));
    EXPECT_EQ(questions.next_wake(), now.mono + pause);
    pass(pause);
  }
  ASSERT_TRUE(takes(due().at(0)));
  questions.good(name, now);
  pass(10min);
  ASSERT_TRUE(takes(due().at(0)));
  EXPECT_TRUE(questions.bad(name, CloudErrorClass::kTransient, now)) << "it is news again";
  EXPECT_EQ(questions.next_wake(), now.mono + 1min);
}

TEST_F(QuestionsTest, WhatADriverDoesNotSupportIsAskedInTheUsualTime) {
  ASSERT_TRUE(takes(due().at(0)));
  questions.bad(name, CloudErrorClass::kUnsupported, now);
  EXPECT_EQ(questions.next_wake(), now.mono + 10min);
}

TEST_F(QuestionsTest, OnlyTheAnswerToTheNewestCallCounts) {
  const auto old = due().at(0);
  questions.ask_again(0, now);
  const auto newest = due().at(0);
  EXPECT_FALSE(takes(old));
  EXPECT_TRUE(takes(newest));
  EXPECT_FALSE(takes(newest)) << "twice";
  EXPECT_FALSE(takes(99));
}

TEST_F(QuestionsTest, AnAnswerThatMayBeOfAnotherAccountIsIgnoredAndAskedForAgain) {
  const auto closed = due().at(0);
  sets.at(0).opening.closed();
  EXPECT_FALSE(takes(closed));
  sets.at(0).opening.opened();
  const auto early = due();
  ASSERT_THAT(early, SizeIs(1));
  pass(1s);
  Account& account = sets.at(0).account;
  account.restore({.set = "west", .account = "1", .region = ""});
  model::SetInfo other;
  other.account_id = "2";
  account.refuse(other);
  account.use("west", account.accept(), now.mono);
  EXPECT_FALSE(takes(early[0]));
  EXPECT_THAT(due(), SizeIs(1));
}

TEST_F(QuestionsTest, AShutGateHoldsItBackAndItsEndOrAnAdminLetsItPass) {
  auto slow = error(CloudErrorClass::kRateLimit);
  slow.retry_after = 30min;
  ASSERT_TRUE(takes(due().at(0), &slow));
  questions.bad(name, slow.cls, now);
  pass(10min);
  const auto held = questions.due(0, CloudOp::kImages, now);
  EXPECT_THAT(held.calls, IsEmpty());
  EXPECT_THAT(held.held_back, HasSubstr("the cloud says no"));
  ASSERT_THAT(gates.all(), SizeIs(1));
  EXPECT_GE(questions.next_wake(), now.mono + 19min);
  const auto gate = gates.open(gates.all().begin()->first, "by root", now);
  ASSERT_TRUE(gate);
  questions.ask_held_back(0, *gate, now);
  EXPECT_THAT(due(), SizeIs(1));
}

TEST_F(QuestionsTest, ARefusedQuestionShutsNoOtherCall) {
  const auto no = error(CloudErrorClass::kAuth);
  ASSERT_TRUE(takes(due().at(0), &no));
  EXPECT_EQ(gates.shut({.set = "west", .op = CloudOp::kCreate}, now.mono), nullptr);
}

TEST_F(QuestionsTest, ANewPolicyAsksWhatIsNewForgetsWhatIsGoneAndShortensTheRest) {
  const auto of_a = due().at(0);
  keep({"a", "b"});
  EXPECT_THAT(due(), SizeIs(1)) << "b";
  ASSERT_TRUE(takes(of_a));
  questions.good(name, now);
  questions.keep(0, CloudOp::kImages, {"a"}, {2min, 1min}, now);
  EXPECT_EQ(questions.next_wake(), now.mono + 2min);
  pass(2min);
  const auto late = due().at(0);
  keep({"b"});
  EXPECT_FALSE(takes(late)) << "nobody wants to know it any more";
}

TEST_F(QuestionsTest, QuestionsOfOneSetDoNotTouchThoseOfAnother) {
  auto two = policy;
  two.sets.emplace_back().name = "east";
  Sets both(two);
  both.at(0).opening.opened();
  both.at(1).opening.opened();
  CallGates all(two, both, images, recorder, plan, 1);
  Questions asked(both, all);
  for (const std::uint32_t set : {0U, 1U})
    asked.keep(set, CloudOp::kImages, {"a"}, {10min, 1min}, now);
  const auto west = asked.due(0, CloudOp::kImages, now).calls;
  const auto east = asked.due(1, CloudOp::kImages, now).calls;
  ASSERT_THAT(west, SizeIs(1));
  ASSERT_THAT(east, SizeIs(1));
  asked.ask_again(0, now);
  EXPECT_FALSE(asked.take({0, CloudOp::kImages, "a"}, west[0].number, nullptr, now));
  EXPECT_TRUE(asked.take({1, CloudOp::kImages, "a"}, east[0].number, nullptr, now));
}

}  // namespace
}  // namespace hostler::dispatch

#include <gmock/gmock.h>

#include "tests/unit/lxd/set_fixture.h"

namespace hostler::lxd::test {
namespace {

using ::testing::HasSubstr;

TEST_F(LxdSetTest, ACreateGoesOnWhenTheAnswerToAWaitCannotBeRead) {
  play.missing().async().answer(502, "<html>").sync(made());
  play.async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
}

const std::string kStarting = "LXD daemon setup in progress";

TEST_F(LxdSetTest, ACreateGoesOnWhenLxdWasStartingAgainMeanwhile) {
  play.missing().async();
  for (int i = 0; i < 5; ++i) play.refuse(503, kStarting);
  play.sync(made()).refuse(503, kStarting).async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
  EXPECT_TRUE(play.steps.empty());
}

TEST_F(LxdSetTest, ACreateThatLxdRefusesWhileItStartsOrEndsHasMadeNothing) {
  for (const std::string& text : {kStarting, std::string("LXD is shutting down")}) {
    play.missing().refuse(503, text);
    Call call;
    EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
    EXPECT_FALSE(call.outcome_unknown());
    EXPECT_THAT(call.message(), HasSubstr(text));
    EXPECT_TRUE(play.steps.empty());
  }
}

TEST_F(LxdSetTest, AStatus503SaysThatNothingWasDone) {
  for (const char* body : {R"({"type":"error","error":"starting"})", "<html>"}) {
    play.missing().answer(503, body);
    Call call;
    EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
    EXPECT_FALSE(call.outcome_unknown());
  }
}

TEST_F(LxdSetTest, ACreateGoesOnWhenLxdWasRestartedMeanwhile) {
  play.missing().async().refuse(404, "Operation not found");
  play.no_answer(false).no_answer(false).no_answer(false);  // it is not there yet
  play.sync(made()).no_answer(true).async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
}

TEST_F(LxdSetTest, WhatLxdLostWhenItWasKilledIsMadeAgain) {
  play.missing().async().no_answer(true).missing();  // interrupted, and nothing is there
  play.async().ended().async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
}

TEST_F(LxdSetTest, WhatLxdLosesEachTimeIsGivenUp) {
  play.missing();
  for (int i = 0; i < 3; ++i) play.async().refuse(404, "Operation not found").missing();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(call.outcome_unknown());
  EXPECT_TRUE(play.steps.empty());
}

// A start makes LXD 5.0.2 put a folder in place of the disk, which it cannot delete on btrfs.
TEST_F(LxdSetTest, AContainerWithoutADiskIsNotStartedButMadeAgain) {
  play.missing().async().no_answer(true).sync(without_disk());
  play.async().ended().missing();        // deleted
  play.async().ended().async().ended();  // made and started
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
  EXPECT_TRUE(play.steps.empty());
  EXPECT_THAT(play.asked[4], HasSubstr("DELETE"));
}

// As after the death of this driver: LXD goes on with what it began.
TEST_F(LxdSetTest, ACreateThatLxdIsStillAtWorkOnIsWaitedFor) {
  Call call;
  play.sync(without_disk());
  play.async().ended(R"(Instance is busy running a \"create\" operation)");
  play.sync(without_disk()).sync(made());
  play.async().ended();  // started

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
  EXPECT_TRUE(play.steps.empty());
}

TEST_F(LxdSetTest, WhatLxdCannotDeleteLeavesTheOutcomeOpen) {
  play.missing().async().no_answer(true).sync(without_disk());
  play.async().ended("Failed to run: btrfs property: Invalid argument").sync(without_disk());
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(call.outcome_unknown());
  EXPECT_THAT(call.message(), HasSubstr("btrfs property: Invalid argument"));
}

TEST_F(LxdSetTest, ARetryStartsWhatTheFirstTryOnlyMade) {
  Call first, second;
  play.missing().async().ended().async();
  play.steps.emplace_back([&](const HttpRequest&) -> HttpAnswer {
    throw NoAnswer(HOSTLER_E_CANCELLED, "cancelled", true);
  });
  EXPECT_EQ(create(first), HOSTLER_E_CANCELLED);
  EXPECT_TRUE(first.outcome_unknown());
  play.sync(made()).async().ended();

  EXPECT_EQ(create(second), HOSTLER_OK) << second.message();
  EXPECT_THAT(play.bodies[6], HasSubstr(R"("action": "start")"));
  ASSERT_EQ(second.instances.size(), 1u);
}

TEST_F(LxdSetTest, AKeyThatWasUsedForSomethingElseIsAConflict) {
  play.sync(instance(103, kName, R"(,"user.hostler-driver.digest":"other")"));
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_CONFLICT);
}

}  // namespace
}  // namespace hostler::lxd::test

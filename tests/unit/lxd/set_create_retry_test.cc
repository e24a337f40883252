#include <gmock/gmock.h>

#include "tests/unit/lxd/set_fixture.h"

namespace hostler::lxd::test {
namespace {

using ::testing::HasSubstr;

TEST_F(LxdSetTest, ACreateGoesOnWhenTheAnswerToAWaitCannotBeRead) {
  play.missing().async().answer(502, "<html>").sync(instance(102, kName, "", false));
  play.async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
}

const std::string kStarting = "LXD daemon setup in progress";

TEST_F(LxdSetTest, ACreateGoesOnWhenLxdWasStartingAgainMeanwhile) {
  play.missing().async();
  for (int i = 0; i < 5; ++i) play.refuse(503, kStarting);
  play.sync(instance(102, kName, "", false)).refuse(503, kStarting).async().ended();
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
  play.sync(instance(102, kName, "", false)).no_answer(true).async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
}

TEST_F(LxdSetTest, WhatLxdLostWhenItWasKilledIsMadeAgain) {
  play.missing().async().no_answer(true).missing();  // interrupted, and nothing is there
  play.missing().missing();                          // no start
  play.missing().missing();                          // nothing to delete, and a look says so too
  play.async().ended().async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
}

TEST_F(LxdSetTest, AContainerWithoutADiskIsMadeAgain) {
  play.missing().async().no_answer(true).sync(instance(102, kName, "", false));
  play.refuse(404, "Instance storage pool not found").sync(instance(102, kName, "", false));
  play.async().ended();                  // deleted
  play.async().ended().async().ended();  // made and started
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
  EXPECT_TRUE(play.steps.empty());
}

TEST_F(LxdSetTest, ARetryStartsWhatTheFirstTryOnlyMade) {
  Call first, second;
  play.missing().async().ended().async();
  play.steps.emplace_back([&](const HttpRequest&) -> HttpAnswer {
    throw NoAnswer(HOSTLER_E_CANCELLED, "cancelled", true);
  });
  EXPECT_EQ(create(first), HOSTLER_E_CANCELLED);
  EXPECT_TRUE(first.outcome_unknown());
  const std::string& body = play.bodies[1];
  const std::string mark = R"("user.hostler-driver.digest":")";
  const std::string digest = body.substr(body.find(mark) + mark.size(), 16);

  play.sync(instance(102, kName, R"(,"user.hostler-driver.digest":")" + digest + "\"", false))
      .async()
      .ended();

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

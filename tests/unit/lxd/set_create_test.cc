#include "tests/unit/lxd/set_fixture.h"

#include <gmock/gmock.h>

namespace hostler::lxd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(LxdSetTest, ACreateMakesAndStartsAContainer) {
  play.missing().async().ended().async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();

  EXPECT_THAT(play.asked, ElementsAre("GET /1.0/instances/" + kName + "?recursion=1&project=p%20q",
                                      "POST /1.0/instances?project=p%20q",
                                      "GET /1.0/operations/7/wait?timeout=20&project=p%20q",
                                      "PUT /1.0/instances/" + kName + "/state?project=p%20q",
                                      "GET /1.0/operations/7/wait?timeout=20&project=p%20q"));
  EXPECT_THAT(play.bodies[1], HasSubstr(R"("limits.cpu":"2","limits.memory":"268435456")"));
  ASSERT_EQ(call.instances.size(), 1u);
  EXPECT_EQ(call.instances[0].id, kName);
  EXPECT_EQ(call.instances[0].key, kKey);
}

TEST_F(LxdSetTest, AnOperationThatTakesLongIsLookedAtAgain) {
  play.missing().async().sync(R"({"status_code":103})").ended().async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
}

TEST_F(LxdSetTest, AQuotaOfTheProjectIsAQuotaOfTheAccount) {
  play.missing().refuse(500, "Reached maximum number of instances in project p").missing();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_QUOTA);
  EXPECT_EQ(call.error.scope, HOSTLER_SCOPE_ACCOUNT);
  EXPECT_FALSE(call.outcome_unknown());
  EXPECT_TRUE(call.instances.empty());
}

TEST_F(LxdSetTest, AFullPoolIsAShortage) {
  play.missing().async().ended("Failed: write /x: no space left on device").missing();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_CAPACITY);
  EXPECT_FALSE(call.outcome_unknown());
}

TEST_F(LxdSetTest, AnAnswerThatIsLostLeavesTheOutcomeOpen) {
  play.missing().no_answer(true).missing();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(call.outcome_unknown());
  EXPECT_EQ(play.asked.size(), 3u) << "it is not sent again";
}

// Else it would be listed, and nobody would start it.
TEST_F(LxdSetTest, WhatWasMadeWithoutAnAnswerIsStarted) {
  play.missing().no_answer(true).sync(without_disk());  // and it is not whole yet
  play.sync(without_disk()).async().ended(R"(Instance is busy running a \"create\" operation)");
  play.sync(without_disk()).sync(made());
  play.async().ended();  // started
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
  EXPECT_TRUE(play.steps.empty());
  ASSERT_FALSE(call.instances.empty());
  EXPECT_EQ(call.instances[0].key, kKey);
}

TEST_F(LxdSetTest, AnAnswerThatCannotBeReadLeavesTheOutcomeOpen) {
  for (const int status : {200, 502}) {
    play.missing().answer(status, "<html>").missing();
    Call call;
    EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
    EXPECT_TRUE(call.outcome_unknown());
  }
}

// Without an error_code, and from something before LXD.
// In a cluster it has the project.
TEST_F(LxdSetTest, AnOperationMayHaveAQuery) {
  play.missing()
      .answer(202, R"({"type":"async","operation":"/1.0/operations/7?project=p+q","metadata":{}})")
      .ended()
      .async()
      .ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
  EXPECT_EQ(play.asked[2], "GET /1.0/operations/7/wait?timeout=20&project=p%20q");
}

TEST_F(LxdSetTest, ARequestThatNeverLeftHasAnOutcome) {
  play.missing().no_answer(false);
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
  EXPECT_FALSE(call.outcome_unknown());
}

// LXD 5.0.2 that was killed while it unpacked the image.
TEST_F(LxdSetTest, AfterACancelTheOutcomeIsOpenAndTheOperationCancelled) {
  Call call;
  play.missing().async();
  play.steps.emplace_back([&](const HttpRequest&) -> HttpAnswer {
    call.cancel();
    throw NoAnswer(HOSTLER_E_CANCELLED, "cancelled", false);
  });
  play.sync("{}");

  EXPECT_EQ(create(call), HOSTLER_E_CANCELLED);
  EXPECT_TRUE(call.outcome_unknown());
  EXPECT_EQ(play.asked.back(), "DELETE /1.0/operations/7?project=p%20q");
}

TEST_F(LxdSetTest, AContainerThatDoesNotStartIsRemoved) {
  play.missing().async().ended();                              // made
  play.async().ended("Failed to run: no available IPs left");  // not started
  play.sync(made());                                           // nobody else has started it
  play.async().ended();                                        // removed
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_CAPACITY);
  EXPECT_EQ(call.error.scope, HOSTLER_SCOPE_SUBNET);
  EXPECT_FALSE(call.outcome_unknown());
  EXPECT_EQ(play.asked[6], "DELETE /1.0/instances/" + kName + "?project=p%20q");
}

TEST_F(LxdSetTest, WhatCannotBeRemovedLeavesTheOutcomeOpen) {
  play.missing().async().ended();               // made
  play.async().ended("no available IPs left");  // not started
  play.sync(made());                            // by nobody else either
  play.refuse(404, "Storage pool not found").sync(made());
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_CAPACITY);
  EXPECT_TRUE(call.outcome_unknown());
}

TEST_F(LxdSetTest, WhatRunsAlreadyIsStarted) {
  play.missing().async().ended().async().ended("The instance is already running");
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
}

}  // namespace
}  // namespace hostler::lxd::test

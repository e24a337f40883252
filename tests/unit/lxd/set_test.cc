#include <gmock/gmock.h>

#include "lxd_set.h"
#include "tests/unit/lxd/call.h"
#include "tests/unit/lxd/script.h"

namespace hostler::lxd::test {
namespace {

using driver::str;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kKey = "0f7c0a5e-1111-4222-8333-944455556666";
const std::string kName = "hostler-" + kKey;

std::string server(const std::string& auth = "trusted") {
  return R"({"auth":")" + auth + R"(","api_extensions":["instance_get_full","cloud_init"],)" +
         R"("environment":{"certificate_fingerprint":"ab12","server_clustered":false}})";
}

/// An instance as LXD shows it; `more` are further members of its config.
std::string instance(int status, const std::string& name = kName, const std::string& more = "",
                     bool has_started = true) {
  return R"({"name":")" + name + R"(","type":"container","status_code":)" + std::to_string(status) +
         R"(,"status":"x","location":"none","created_at":)" +
         R"("2026-11-24T19:37:45.5Z","last_used_at":")" +
         (has_started ? "2026-11-24T19:37:48Z" : "1970-01-01T00:00:00Z") +
         R"(","config":{"user.hostler-key":")" + kKey + R"(","user.hostler-set":"s")" + more +
         R"(},"state":{"network":{"eth0":{"addresses":[{"family":"inet",)" +
         R"("address":"10.88.0.5","scope":"global"}]}}}})";
}

class LxdSetTest : public ::testing::Test {
 protected:
  /// What becomes of an opening, with the answers that `play` has.
  hostler_status open(Call& call) {
    auto config = driver::sized<hostler_set_config>();
    config.set_id = HOSTLER_STR("s");
    const std::string json = R"({"socket":"/s","project":"p q","image":"debian"})";
    config.config_json = str(json);
    return call.run(
        [&] { set = std::make_unique<LxdSet>(config, std::make_unique<Script>(play), &call.op); });
  }

  void SetUp() override {
    play.sync(server()).sync("{}");
    Call call;
    ASSERT_EQ(open(call), HOSTLER_OK) << call.message();
    play.asked.clear();
    play.bodies.clear();
  }

  hostler_status create(Call& call) {
    auto type = driver::sized<hostler_instance_type>();
    type.provider_type = HOSTLER_STR("small");
    type.vcpus = 2;
    type.ram_bytes = 1 << 28;
    auto request = driver::sized<hostler_create_req>();
    request.idempotency_key = str(kKey);
    request.type = &type;
    return call.run([&] { set->create(request, &call.op); });
  }

  hostler_status list(Call& call) {
    const auto request = driver::sized<hostler_list_req>();
    return call.run([&] { set->list(request, &call.op); });
  }

  hostler_status destroy(Call& call, const char* expected_set = "s") {
    auto request = driver::sized<hostler_destroy_req>();
    request.id = str(kName);
    request.expected_set_id = str(expected_set);
    return call.run([&] { set->destroy(request, &call.op); });
  }

  Play play;
  std::unique_ptr<LxdSet> set;
};

TEST_F(LxdSetTest, AServerThatDoesNotTrustUsIsAnErrorOfAuthorisation) {
  Call call;
  play.sync(server("untrusted"));

  EXPECT_EQ(open(call), HOSTLER_E_AUTH);
  EXPECT_THAT(call.message(), HasSubstr("lxc config trust add"));
}

TEST_F(LxdSetTest, AProjectThatIsNotThereIsInvalid) {
  Call call;
  play.sync(server()).refuse(404, "Project not found");

  EXPECT_EQ(open(call), HOSTLER_E_INVALID);
  EXPECT_THAT(call.message(), HasSubstr("open project p q: Project not found"));
}

TEST_F(LxdSetTest, TheAccountIsTheServerWithTheProject) {
  Call call;
  call.run([&] { set->info(driver::sized<hostler_set_info_req>(), &call.op); });

  EXPECT_EQ(call.account, "ab12/p q");
}

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
  play.missing().no_answer(true);
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(call.outcome_unknown());
  EXPECT_EQ(play.asked.size(), 2u) << "it is not sent again";
}

TEST_F(LxdSetTest, ARequestThatNeverLeftHasAnOutcome) {
  play.missing().no_answer(false);
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
  EXPECT_FALSE(call.outcome_unknown());
}

TEST_F(LxdSetTest, AnOperationThatLxdForgotLeavesTheOutcomeOpen) {
  play.missing().async().refuse(404, "Operation not found");
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(call.outcome_unknown());
}

TEST_F(LxdSetTest, ARetryStartsWhatTheFirstTryOnlyMade) {
  Call first, second;
  play.missing().async().ended().no_answer(true);
  EXPECT_EQ(create(first), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(first.outcome_unknown());
  const std::string& body = play.bodies[1];
  const std::string mark = R"("user.hostler-driver.digest":")";
  const std::string digest = body.substr(body.find(mark) + mark.size(), 16);

  play.sync(instance(102, kName, R"(,"user.hostler-driver.digest":")" + digest + "\"", false))
      .async()
      .ended();

  EXPECT_EQ(create(second), HOSTLER_OK) << second.message();
  EXPECT_THAT(play.bodies[5], HasSubstr(R"("action": "start")"));
  ASSERT_EQ(second.instances.size(), 1u);
}

TEST_F(LxdSetTest, AKeyThatWasUsedForSomethingElseIsAConflict) {
  play.sync(instance(103, kName, R"(,"user.hostler-driver.digest":"other")"));
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_CONFLICT);
}

TEST_F(LxdSetTest, AContainerThatDoesNotStartIsRemoved) {
  play.missing().async().ended();                              // made
  play.async().ended("Failed to run: no available IPs left");  // not started
  play.sync(instance(102, kName, "", false));                  // nobody else has started it
  play.async().ended();                                        // removed
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_CAPACITY);
  EXPECT_EQ(call.error.scope, HOSTLER_SCOPE_SUBNET);
  EXPECT_FALSE(call.outcome_unknown());
  EXPECT_EQ(play.asked[6], "DELETE /1.0/instances/" + kName + "?project=p%20q");
}

TEST_F(LxdSetTest, ListShowsOursWithTagsAndOthersWithout) {
  play.sync("[" + instance(103, kName, R"(,"user.hostler-idle":"1","user.user-data":"secret")") +
            "," + instance(103, "copy", R"(,"user.hostler-idle":"1")") + "," +
            instance(110, "hostler-x") + "]");
  Call call;

  EXPECT_EQ(list(call), HOSTLER_OK) << call.message();

  ASSERT_EQ(call.instances.size(), 3u);
  const Seen& ours = call.instances[0];
  EXPECT_EQ(ours.key, kKey);
  EXPECT_EQ(ours.address, "10.88.0.5");
  EXPECT_EQ(ours.state, HOSTLER_STATE_RUNNING);
  EXPECT_EQ(ours.tags, (std::map<std::string, std::string>{
                           {"hostler-key", kKey}, {"hostler-set", "s"}, {"hostler-idle", "1"}}));
  const Seen& copy = call.instances[1];
  EXPECT_EQ(copy.key, "") << "a copy made by hand is nobody's";
  EXPECT_EQ(copy.set_id, "");
  EXPECT_TRUE(copy.tags.empty());
  EXPECT_EQ(call.instances[2].state, HOSTLER_STATE_SUSPENDED);
}

TEST_F(LxdSetTest, WhatNeverStartedIsPendingAndNotSwitchedOff) {
  play.sync("[" + instance(102, kName, "", false) + "," + instance(102) + "]");
  Call call;

  list(call);

  ASSERT_EQ(call.instances.size(), 2u);
  EXPECT_EQ(call.instances[0].state, HOSTLER_STATE_PENDING);
  EXPECT_EQ(call.instances[1].state, HOSTLER_STATE_STOPPED);
}

TEST_F(LxdSetTest, AListThatCannotBeReadToItsEndIsAnErrorAndShowsNothing) {
  const std::string good = "[" + instance(103);
  const std::string bodies[] = {
      "",
      "<html>",
      good,
      R"({"type":"sync","metadata":)" + good,            // cut
      R"({"type":"sync","metadata":)" + good + ",{}]}",  // one that is strange
      R"({"type":"sync","metadata":{}})",
      R"({"type":"sync"})",  // no list
      R"({"type":"sync","metadata":null})",
      R"([)" + good + "]",  //
      R"({"type":"async","operation":"/1.0/operations/1","metadata":{}})",
      std::string(200'000, '[')};
  for (const std::string& body : bodies) {
    play.answer(200, body);
    Call call;
    EXPECT_EQ(list(call), HOSTLER_E_TRANSIENT) << body.substr(0, 80);
    EXPECT_TRUE(call.instances.empty());
  }
  EXPECT_TRUE(play.steps.empty());
}

TEST_F(LxdSetTest, AListIsAskedForAgainWhileNothingAnswers) {
  play.no_answer(false).answer(503, "<html>").sync("[]");
  Call call;

  EXPECT_EQ(list(call), HOSTLER_OK) << call.message();
}

TEST_F(LxdSetTest, ADestroyStopsAndDeletes) {
  play.sync(instance(103)).async().ended().async().ended();
  Call call;

  EXPECT_EQ(destroy(call), HOSTLER_OK) << call.message();
  EXPECT_EQ(play.asked[1], "PUT /1.0/instances/" + kName + "/state?project=p%20q");
  EXPECT_EQ(play.asked[3], "DELETE /1.0/instances/" + kName + "?project=p%20q");
}

TEST_F(LxdSetTest, ADestroyOfWhatIsNotThereHasNothingToDo) {
  play.missing();
  Call call;

  EXPECT_EQ(destroy(call), HOSTLER_OK);
}

TEST_F(LxdSetTest, ADestroyDoesNotTakeAMissingProjectForAMissingInstance) {
  play.refuse(404, "Project not found");
  Call call;

  EXPECT_LT(destroy(call), 0);
}

TEST_F(LxdSetTest, AnotherSetsInstanceIsNotDestroyed) {
  play.sync(instance(103));
  Call call;

  EXPECT_EQ(destroy(call, "other"), HOSTLER_E_CONFLICT);
  EXPECT_EQ(play.asked.size(), 1u);
}

TEST_F(LxdSetTest, TagsAreSetAndRemovedByOneRequest) {
  play.sync(instance(103, kName, R"(,"user.a":"1")")).sync("{}");
  auto request = driver::sized<hostler_set_tags_req>();
  request.id = str(kName);
  const hostler_kv wanted[] = {{HOSTLER_STR("b"), HOSTLER_STR("2")}};
  const hostler_str remove[] = {HOSTLER_STR("a"), HOSTLER_STR("hostler-key"), HOSTLER_STR("no")};
  request.set = wanted, request.n_set = 1;
  request.remove = remove, request.n_remove = 3;
  Call call;

  EXPECT_EQ(call.run([&] { set->set_tags(request, &call.op); }), HOSTLER_OK) << call.message();
  EXPECT_EQ(play.bodies[1], R"({"config":{"user.a":"","user.b":"2"}})");
}

TEST_F(LxdSetTest, StartEndsAFreeze) {
  play.sync(instance(110)).async().ended();
  auto request = driver::sized<hostler_power_req>();
  request.id = str(kName);
  Call call;

  EXPECT_EQ(call.run([&] { set->start(request, &call.op); }), HOSTLER_OK) << call.message();
  EXPECT_THAT(play.bodies[1], HasSubstr("unfreeze"));
}

}  // namespace
}  // namespace hostler::lxd::test

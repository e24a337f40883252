#include "tests/unit/lxd/set_fixture.h"

namespace hostler::lxd::test {
namespace {

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

const std::string kUnreachable =
    R"({"name":")" + kName + R"(","type":"","status":"Error","status_code":112,"location":"m2",)" +
    R"("created_at":"0001-01-01T00:00:00Z","config":null,"state":null})";

TEST_F(LxdSetTest, AnInstanceThatLxdCannotReachIsListedWithoutItsTags) {
  play.sync("[" + instance(103, "other") + "," + kUnreachable + "]");
  Call call;

  EXPECT_EQ(list(call), HOSTLER_OK) << call.message();

  ASSERT_EQ(call.instances.size(), 2u);
  EXPECT_FALSE(call.instances[0].tags_unknown);
  const Seen& unreachable = call.instances[1];
  EXPECT_TRUE(unreachable.tags_unknown);
  EXPECT_EQ(unreachable.id, kName);
  EXPECT_EQ(unreachable.zone, "m2");
  EXPECT_EQ(unreachable.state, HOSTLER_STATE_UNKNOWN);
}

TEST_F(LxdSetTest, WhereOneCannotBeReadByItselfTheWholeListTellsOfIt) {
  const hostler_str ids[] = {HOSTLER_STR("a"), driver::str(kName), HOSTLER_STR("z")};
  auto request = driver::sized<hostler_list_req>();
  request.ids = ids, request.n_ids = 3;
  const auto ask = [&](Call& call) { return call.run([&] { set->list(request, &call.op); }); };
  Call refused, unknown, forbidden;

  play.sync(instance(103, "a")).refuse(500, "Failed to connect to m2");
  play.sync("[" + instance(103, "a") + "," + instance(103, "b") + "," + kUnreachable + "]");
  EXPECT_EQ(ask(refused), HOSTLER_OK) << refused.message();
  ASSERT_EQ(refused.instances.size(), 2u);
  EXPECT_EQ(refused.instances[0].id, "a");
  EXPECT_TRUE(refused.instances[1].tags_unknown);

  play.missing().sync(kUnreachable).missing();
  EXPECT_EQ(ask(unknown), HOSTLER_OK) << unknown.message();
  ASSERT_EQ(unknown.instances.size(), 1u);
  EXPECT_TRUE(unknown.instances[0].tags_unknown);

  play.refuse(403, "not authorized");
  EXPECT_EQ(ask(forbidden), HOSTLER_E_AUTH);
  EXPECT_TRUE(play.steps.empty());
}

TEST_F(LxdSetTest, AFilterOfTagsKeepsWhatMayHaveThem) {
  play.sync("[" + instance(103, "other") + "," + kUnreachable + "]");
  auto request = driver::sized<hostler_list_req>();
  const hostler_kv tag{HOSTLER_STR("hostler-set"), HOSTLER_STR("s")};
  request.tag_filter = &tag, request.n_tag_filter = 1;
  Call call;

  EXPECT_EQ(call.run([&] { set->list(request, &call.op); }), HOSTLER_OK) << call.message();
  ASSERT_EQ(call.instances.size(), 1u);
  EXPECT_EQ(call.instances[0].id, kName);
}

TEST_F(LxdSetTest, WhatLxdCannotReachIsNotDestroyed) {
  play.sync(kUnreachable);
  Call call;

  EXPECT_EQ(destroy(call), HOSTLER_E_TRANSIENT);
  EXPECT_EQ(play.asked.size(), 1u);
}

TEST_F(LxdSetTest, AListHasTenMinutes) {
  play.sync("[]").sync("{}");
  Call call;

  list(call);

  ASSERT_EQ(play.timeouts_ms.size(), 2u);
  EXPECT_EQ(play.timeouts_ms[0], 600'000);
  EXPECT_EQ(play.timeouts_ms[1], 30'000);
}

TEST_F(LxdSetTest, AnEmptyListIsBelievedOnlyOfAProjectThatIsThere) {
  Call gone, empty;
  play.sync("[]").refuse(404, "Project not found");
  EXPECT_LT(list(gone), 0);

  play.sync("[]").sync("{}");
  EXPECT_EQ(list(empty), HOSTLER_OK) << empty.message();
  EXPECT_EQ(play.asked.back(), "GET /1.0/projects/p%20q?project=p%20q");
}

TEST_F(LxdSetTest, AListIsAskedForAgainWhileNothingAnswers) {
  play.no_answer(false).answer(503, "<html>").sync("[]").sync("{}");
  Call call;

  EXPECT_EQ(list(call), HOSTLER_OK) << call.message();
}

}  // namespace
}  // namespace hostler::lxd::test

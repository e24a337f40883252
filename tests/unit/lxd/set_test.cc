#include "tests/unit/lxd/set_fixture.h"

#include <gmock/gmock.h>

namespace hostler::lxd::test {
namespace {

using driver::str;
using ::testing::HasSubstr;

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

// Incus 6.0.4 has the same API, with the extensions of LXD under their names.
TEST_F(LxdSetTest, IncusIsTakenAsWell) {
  std::string incus = server();
  incus.insert(incus.find("\"certificate_fingerprint"),
               R"("server":"incus","server_version":"6.0.4",)");
  play.sync(incus).sync("{}");
  Call call;

  EXPECT_EQ(open(call), HOSTLER_OK) << call.message();
}

TEST_F(LxdSetTest, TheAccountIsTheServerWithTheProject) {
  Call call;
  call.run([&] { set->info(driver::sized<hostler_set_info_req>(), &call.op); });

  EXPECT_EQ(call.account, "ab12/p q");
  EXPECT_EQ(call.user_data_max_bytes, 16u * 1024) << "each list carries it twice for each instance";
}

// As LXD lists it while its member of the cluster does not answer.
// LXD 5.0.2 answers with an empty list.
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

TEST_F(LxdSetTest, ADestroyBelievesThatAnInstanceIsGoneOnlyIfALookUpSaysSo) {
  Call there, gone;
  play.sync(instance(102)).refuse(404, "Storage pool not found").sync(instance(102));
  EXPECT_EQ(destroy(there), HOSTLER_E_TRANSIENT);
  EXPECT_THAT(there.message(), HasSubstr("Storage pool not found"));

  play.sync(instance(102)).missing().missing();
  EXPECT_EQ(destroy(gone), HOSTLER_OK) << gone.message();
  EXPECT_TRUE(play.steps.empty());
}

// It is asked for again; "invalid" and the like would say of a create that it is no use.
TEST_F(LxdSetTest, WhatLxdCannotDeleteNowIsATemporaryErrorWithItsText) {
  for (const char* text : {"Failed to run: btrfs: Invalid argument", "Unknown configuration key: x",
                           "No root device could be found"}) {
    play.sync(instance(102)).async().ended(text).sync(instance(102));
    Call call;
    EXPECT_EQ(destroy(call), HOSTLER_E_TRANSIENT);
    EXPECT_THAT(call.message(), HasSubstr(text));
  }
}

TEST_F(LxdSetTest, ADestroyDoesNotTakeAMissingProjectForAMissingInstance) {
  play.refuse(404, "Project not found");
  Call call;

  EXPECT_LT(destroy(call), 0);
}

TEST_F(LxdSetTest, ADestroyOfAMissingInstanceIsDoneWhereItsProjectIsNamed) {  // as Incus does
  play.refuse(404, R"(Failed to fetch instance \"x\" in project \"p q\": Instance not found)");
  Call call;

  EXPECT_EQ(destroy(call), HOSTLER_OK) << call.message();
}

TEST_F(LxdSetTest, AnotherSetsInstanceIsNotDestroyed) {
  play.sync(instance(103));
  Call call;

  EXPECT_EQ(destroy(call, "other"), HOSTLER_E_CONFLICT);
  EXPECT_EQ(play.asked.size(), 1u);
}

// A PATCH without one empties it.
TEST_F(LxdSetTest, AChangeOfTagsKeepsTheDescription) {
  std::string described = instance(103);
  described.insert(1, R"("description":"web \"1\"",)");
  play.sync(described).sync("{}");
  auto request = driver::sized<hostler_set_tags_req>();
  request.id = str(kName);
  const hostler_kv wanted{HOSTLER_STR("b"), HOSTLER_STR("2")};
  request.set = &wanted, request.n_set = 1;
  Call call;

  EXPECT_EQ(call.run([&] { set->set_tags(request, &call.op); }), HOSTLER_OK) << call.message();
  EXPECT_EQ(play.bodies[1], R"({"description":"web \"1\"","config":{"user.b":"2"}})");
}

TEST_F(LxdSetTest, StartEndsAFreeze) {
  play.sync(instance(110)).async().ended();
  auto request = driver::sized<hostler_power_req>();
  request.id = str(kName);
  Call call;

  EXPECT_EQ(call.run([&] { set->start(request, &call.op); }), HOSTLER_OK) << call.message();
  EXPECT_THAT(play.bodies[1], HasSubstr("unfreeze"));
}

TEST_F(LxdSetTest, TheConsoleComesInPiecesFromTheOffsetOn) {
  auto request = driver::sized<hostler_console_req>();
  request.id = str(kName);
  request.offset = 1;
  const std::string log(100'000, 'x');
  Call all, last, full, none, missing;

  play.answer(200, log);
  EXPECT_EQ(all.run([&] { set->read_console(request, &all.op); }), HOSTLER_OK);
  EXPECT_EQ(all.console.size(), log.size() - 1);
  EXPECT_EQ(all.console_begin, 1u);

  request.bytes_max = 10;
  play.answer(200, log);
  EXPECT_EQ(last.run([&] { set->read_console(request, &last.op); }), HOSTLER_OK);
  EXPECT_EQ(last.console.size(), 10u);
  EXPECT_EQ(last.console_begin, log.size() - 10);

  // LXD may have dropped the beginning of so much.
  request.offset = request.bytes_max = 0;
  play.answer(200, std::string(std::size_t{128} * 1024, 'x'));
  EXPECT_EQ(full.run([&] { set->read_console(request, &full.op); }), HOSTLER_OK);
  EXPECT_GT(full.console_begin, 0u);

  play.refuse(404, "Not found").sync(instance(102));
  EXPECT_EQ(none.run([&] { set->read_console(request, &none.op); }), HOSTLER_OK);
  EXPECT_EQ(none.console, "");

  play.missing().missing();
  EXPECT_EQ(missing.run([&] { set->read_console(request, &missing.op); }), HOSTLER_E_NOT_FOUND);
}

}  // namespace
}  // namespace hostler::lxd::test

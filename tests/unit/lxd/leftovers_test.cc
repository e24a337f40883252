#include "leftovers.h"

#include <gmock/gmock.h>

#include "tests/unit/lxd/set_fixture.h"

namespace hostler::lxd::test {
namespace {

const std::string kProject =
    R"({"config":{"features.storage.volumes":"true","features.profiles":"true"}})";

/// The config of a thing that carries our tags.
const std::string kOurs = R"("config":{"size":"1GiB","user.hostler-set":"s","user.hostler-owner":)"
                          R"("us","user.hostler-key":")" +
                          kKey + "\"}";

std::string thing(const std::string& name, const std::string& more = R"("used_by":[])") {
  return R"({"name":")" + name + "\"," + kOurs + (more.empty() ? "" : ",") + more + "}";
}

class LxdLeftoversTest : public LxdSetTest {
 protected:
  hostler_status list_leftovers(Call& call) {
    return call.run([&] { set->list_leftovers(request, &call.op); });
  }
  hostler_status destroy_leftover(Call& call, const char* kind, const char* id,
                                  const char* expected_set = "s") {
    auto one = driver::sized<hostler_leftover_destroy_req>();
    one.type = driver::str(kind), one.id = driver::str(id);
    one.expected_set_id = driver::str(expected_set);
    return call.run([&] { set->destroy_leftover(one, &call.op); });
  }

  hostler_leftover_list_req request = driver::sized<hostler_leftover_list_req>();
};

TEST_F(LxdLeftoversTest, VolumesAndProfilesWithTagsThatNothingUsesAreListed) {
  play.sync(kProject);
  play.sync(R"([{"name":"fast"},{"name":"slow pool"}])");
  play.sync("[" + thing("data") + "," + thing("data/snapshot") + "," +
            R"({"name":"others","config":{},"used_by":[]},)" +
            thing("used", R"("used_by":["/1.0/instances/c1"])") + "]");
  play.sync("[" + thing("far", R"("used_by":[],"location":"m2")") + "]");
  play.sync("[" + thing("gone") + R"(,{"name":"default","config":{},"used_by":[]}])");
  Call call;

  EXPECT_EQ(list_leftovers(call), HOSTLER_OK) << call.message();

  EXPECT_THAT(play.asked,
              ::testing::ElementsAre(
                  "GET /1.0/projects/p%20q?project=p%20q",
                  "GET /1.0/storage-pools?recursion=1&project=p%20q",
                  "GET /1.0/storage-pools/fast/volumes/custom?recursion=1&project=p%20q",
                  "GET /1.0/storage-pools/slow%20pool/volumes/custom?recursion=1&project=p%20q",
                  "GET /1.0/profiles?recursion=1&project=p%20q"));
  ASSERT_EQ(call.leftovers.size(), 3u);
  EXPECT_EQ(call.leftovers[0].type, "storage-volume");
  EXPECT_EQ(call.leftovers[0].id, "fast/data");
  EXPECT_EQ(call.leftovers[0].instance, kName);
  EXPECT_EQ(call.leftovers[0].tags,
            (std::map<std::string, std::string>{
                {"hostler-key", kKey}, {"hostler-set", "s"}, {"hostler-owner", "us"}}));
  EXPECT_EQ(call.leftovers[1].id, "slow pool/far/m2");
  EXPECT_EQ(call.leftovers[2].type, "profile");
  EXPECT_EQ(call.leftovers[2].id, "gone");
}

TEST_F(LxdLeftoversTest, WhatBelongsToTheDefaultProjectIsNotLookedAt) {
  play.sync(R"({"config":{"features.profiles":"false"}})");
  Call call;

  EXPECT_EQ(list_leftovers(call), HOSTLER_OK) << call.message();

  EXPECT_EQ(play.asked.size(), 1u);
}

TEST_F(LxdLeftoversTest, OnlyThoseWithTheTagsThatAreAskedFor) {
  const hostler_kv other{HOSTLER_STR("hostler-owner"), HOSTLER_STR("them")};
  request.tag_filter = &other, request.n_tag_filter = 1;
  play.sync(kProject).sync("[]").sync("[" + thing("gone") + "]");
  Call call;

  EXPECT_EQ(list_leftovers(call), HOSTLER_OK) << call.message();

  EXPECT_TRUE(call.leftovers.empty());
}

TEST_F(LxdLeftoversTest, AListThatCannotBeReadToItsEndIsAnErrorAndShowsNothing) {
  const std::string good = "[" + thing("gone");
  for (const std::string& profiles : {std::string("{}"), std::string("null"), good + ",7]",
                                      good + ",{}]", good + R"(,{"name":"x"}])"}) {
    play.sync(kProject).sync("[]").sync(profiles);
    Call call;
    EXPECT_EQ(list_leftovers(call), HOSTLER_E_TRANSIENT) << profiles;
    EXPECT_TRUE(call.leftovers.empty());
  }
}

TEST_F(LxdLeftoversTest, WhatSaysNothingOfItsUsersIsTakenForUsed) {
  play.sync(kProject).sync("[]").sync("[" + thing("gone", "") + "]");
  Call call;

  EXPECT_EQ(list_leftovers(call), HOSTLER_OK) << call.message();

  EXPECT_TRUE(call.leftovers.empty());
}

TEST_F(LxdLeftoversTest, DestroyDeletesAVolumeOrAProfile) {
  play.sync(thing("data")).sync("{}").sync(thing("gone")).sync("{}");
  Call volume, profile;

  EXPECT_EQ(destroy_leftover(volume, "storage-volume", "fast/data/m2"), HOSTLER_OK);
  EXPECT_EQ(destroy_leftover(profile, "profile", "gone"), HOSTLER_OK);

  const std::string path = " /1.0/storage-pools/fast/volumes/custom/data?target=m2&project=p%20q";
  EXPECT_THAT(play.asked, ::testing::ElementsAre("GET" + path, "DELETE" + path,
                                                 "GET /1.0/profiles/gone?project=p%20q",
                                                 "DELETE /1.0/profiles/gone?project=p%20q"));
}

TEST_F(LxdLeftoversTest, DestroyOfWhatIsNotThereIsDone) {
  play.refuse(404, "Storage volume not found");
  play.sync(thing("gone")).refuse(404, "Profile not found");
  Call gone, just_gone;

  EXPECT_EQ(destroy_leftover(gone, "storage-volume", "fast/data"), HOSTLER_OK) << gone.message();
  EXPECT_EQ(destroy_leftover(just_gone, "profile", "gone"), HOSTLER_OK) << just_gone.message();
}

TEST_F(LxdLeftoversTest, DestroyLeavesWhatIsOfOthersOrInUse) {
  play.sync(thing("gone"));
  play.sync(R"({"name":"gone","config":{},"used_by":[]})");
  play.sync(thing("gone", R"("used_by":["/1.0/instances/c1"])"));
  for (const char* expected_set : {"other", "s", "s"}) {
    Call call;
    EXPECT_EQ(destroy_leftover(call, "profile", "gone", expected_set), HOSTLER_E_CONFLICT);
  }
  EXPECT_THAT(play.asked, ::testing::Each(::testing::StartsWith("GET")));
}

TEST_F(LxdLeftoversTest, AnIdThatNoListHasShownIsInvalid) {
  for (const char* id : {"", "data", "/data", "fast/"}) {
    Call call;
    EXPECT_EQ(destroy_leftover(call, "storage-volume", id), HOSTLER_E_INVALID) << id;
  }
  Call call;
  EXPECT_EQ(destroy_leftover(call, "network", "n"), HOSTLER_E_INVALID);
  EXPECT_TRUE(play.asked.empty());
}

}  // namespace
}  // namespace hostler::lxd::test

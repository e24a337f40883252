#include "offerings.h"

#include <gmock/gmock.h>

#include "tests/unit/lxd/set_fixture.h"

namespace hostler::lxd::test {
namespace {

class LxdOfferingsTest : public LxdSetTest {
 protected:
  void open_with_sizes(const std::string& about = server()) {
    play.sync(about).sync("{}");
    Call call;
    ASSERT_EQ(open(call, R"({"socket":"/s","project":"p q","currency":"EUR","sizes":[
        {"name":"small","vcpus":2,"ram":"1GiB","scratch":"5GB","price":0.01},
        {"name":"large","vcpus":8,"ram":"1GiB"}]})"),
              HOSTLER_OK)
        << call.message();
    play.asked.clear();
  }
  hostler_status ask(Call& call) {
    return call.run([&] { set->offerings(request, &call.op); });
  }

  hostler_offerings_req request = driver::sized<hostler_offerings_req>();
};

std::string resources(int vcpus) {
  return R"({"cpu":{"total":)" + std::to_string(vcpus) + R"(},"memory":{"total":4294967296}})";
}

/// As GET /1.0/projects/NAME/state shows it.
std::string room(int instances, int instances_used = 0) {
  const std::string none = R"({"Limit":-1,"Usage":3})";
  return R"({"resources":{"instances":{"Limit":)" + std::to_string(instances) + R"(,"Usage":)" +
         std::to_string(instances_used) + R"(},"containers":)" + none + R"(,"cpu":)" + none +
         R"(,"memory":)" + none + "}}";
}

TEST_F(LxdOfferingsTest, ASizeIsAvailableWhereTheMachineIsLargeEnough) {
  open_with_sizes();
  play.sync(resources(4)).sync(room(-1));
  Call call;

  EXPECT_EQ(ask(call), HOSTLER_OK) << call.message();

  EXPECT_THAT(play.asked, ::testing::ElementsAre("GET /1.0/resources?project=p%20q",
                                                 "GET /1.0/projects/p%20q/state?project=p%20q"));
  ASSERT_EQ(call.offerings.size(), 2u);
  const SeenOffering& small = call.offerings[0];
  EXPECT_EQ(small.type, "small");
  EXPECT_EQ(small.architecture, "x86_64");
  EXPECT_EQ(small.vcpus, 2u);
  EXPECT_EQ(small.ram, std::uint64_t{1} << 30);
  EXPECT_EQ(small.scratch, 5'000'000'000u);
  EXPECT_EQ(small.price, 10'000);
  EXPECT_EQ(small.available, HOSTLER_AVAILABLE_YES);
  EXPECT_EQ(call.offerings[1].price, -1);
  EXPECT_EQ(call.offerings[1].available, HOSTLER_AVAILABLE_NO) << "8 vcpus of 4";
}

TEST_F(LxdOfferingsTest, AProjectThatIsFullHasNothing) {
  open_with_sizes();
  play.sync(resources(16)).sync(room(3, 3));
  Call call;

  EXPECT_EQ(ask(call), HOSTLER_OK) << call.message();
  for (const auto& one : call.offerings) EXPECT_EQ(one.available, HOSTLER_AVAILABLE_NO);
}

TEST_F(LxdOfferingsTest, WhatThisClientMayNotSeeIsUnknown) {
  open_with_sizes();
  play.refuse(403, "not authorized").refuse(404, "not found");
  Call call;

  EXPECT_EQ(ask(call), HOSTLER_OK) << call.message();
  ASSERT_EQ(call.offerings.size(), 2u);
  for (const auto& one : call.offerings) EXPECT_EQ(one.available, HOSTLER_AVAILABLE_UNKNOWN);
}

TEST_F(LxdOfferingsTest, EachMemberOfAClusterIsAZone) {
  std::string clustered = server();
  clustered.replace(clustered.find("false"), 5, "true");
  open_with_sizes(clustered);
  play.sync(R"([{"server_name":"m1","status":"Online","architecture":"aarch64"},
                {"server_name":"m2","status":"Offline","architecture":"x86_64"}])");
  play.sync(resources(4)).sync(room(-1));
  Call call;

  EXPECT_EQ(ask(call), HOSTLER_OK) << call.message();

  EXPECT_EQ(play.asked[1], "GET /1.0/resources?target=m1&project=p%20q");
  ASSERT_EQ(call.offerings.size(), 4u);
  EXPECT_EQ(call.offerings[0].zone, "m1");
  EXPECT_EQ(call.offerings[0].architecture, "aarch64");
  EXPECT_EQ(call.offerings[0].available, HOSTLER_AVAILABLE_YES);
  EXPECT_EQ(call.offerings[1].zone, "m2");
  EXPECT_EQ(call.offerings[1].available, HOSTLER_AVAILABLE_NO);
}

TEST_F(LxdOfferingsTest, MembersThatCannotBeReadAreAnErrorAndNotNoOfferings) {
  std::string clustered = server();
  clustered.replace(clustered.find("false"), 5, "true");
  open_with_sizes(clustered);
  play.sync(R"([{"status":"Online"}])");
  Call call;

  EXPECT_EQ(ask(call), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(call.offerings.empty());
}

TEST_F(LxdOfferingsTest, OnlyTheTypesThatAreAskedForComeAndNoneForSpot) {
  open_with_sizes();
  const hostler_str large = HOSTLER_STR("large");
  request.provider_types = &large, request.n_provider_types = 1;
  play.sync(resources(8)).sync(room(-1));
  Call one, spot;

  EXPECT_EQ(ask(one), HOSTLER_OK) << one.message();
  ASSERT_EQ(one.offerings.size(), 1u);
  EXPECT_EQ(one.offerings[0].type, "large");

  request.market = HOSTLER_MARKET_SPOT;
  EXPECT_EQ(ask(spot), HOSTLER_OK);
  EXPECT_TRUE(spot.offerings.empty());
}

TEST_F(LxdOfferingsTest, AnInstanceHasThePriceOfItsSize) {
  open_with_sizes();
  play.sync("[" + instance(103, kName, R"(,"user.hostler-driver.type":"small")") + "," +
            instance(103, kName, R"(,"user.hostler-driver.type":"other")") + "]");
  Call listed, info;

  EXPECT_EQ(list(listed), HOSTLER_OK) << listed.message();
  EXPECT_EQ(listed.instances[0].price, 10'000);
  EXPECT_EQ(listed.instances[1].price, -1);
  info.run([&] { set->info(driver::sized<hostler_set_info_req>(), &info.op); });
  EXPECT_EQ(info.currency, "EUR");
}

TEST(LxdRoomTest, EachLimitOfTheProjectCounts) {
  const Place place{"", "", true, 64, std::int64_t{1} << 40};
  const Size size{"s", 4, 1000, 0, -1};
  const ProjectRoom all{1, 4, 1000};
  EXPECT_EQ(availability(size, place, all), HOSTLER_AVAILABLE_YES);
  EXPECT_EQ(availability(size, place, {0, 4, 1000}), HOSTLER_AVAILABLE_NO);
  EXPECT_EQ(availability(size, place, {1, 3, 1000}), HOSTLER_AVAILABLE_NO);
  EXPECT_EQ(availability(size, place, {1, 4, 999}), HOSTLER_AVAILABLE_NO);
  EXPECT_EQ(availability(size, place, {1, {}, 1000}), HOSTLER_AVAILABLE_UNKNOWN);
  EXPECT_EQ(availability(size, place, {1, {}, 999}), HOSTLER_AVAILABLE_NO);
}

}  // namespace
}  // namespace hostler::lxd::test

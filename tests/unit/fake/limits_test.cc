// Stock, quotas and rates: what a cloud refuses, and how it says so.
#include "tests/unit/fake/fake_set.h"

namespace hostler::plugin_host {
namespace {

using model::CloudErrorClass;
using ::testing::HasSubstr;
namespace scope = model::scope;

TEST(FakeLimitsTest, AZoneOutOfStockRefusesItsTypeThere) {
  FakeSet set(R"("zones": ["a", "b"], "types": {"small": {"stock": {"a": 1, "b": 1}}})");
  auto in_a = FakeSet::request("k2");
  in_a.zone = "a";

  ASSERT_TRUE(set.create("k1"));
  const auto refused = set.create(in_a);
  const auto elsewhere = set.create("k3");
  const auto nowhere = set.create("k4");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cls, CloudErrorClass::kCapacity);
  EXPECT_EQ(refused.error().scope, scope::kType | scope::kZone);
  EXPECT_EQ(refused.error().zone, "a");
  EXPECT_EQ(elsewhere.value().zone, "b") << "the cloud chooses where there is stock";
  EXPECT_THAT(error_of(nowhere), HasSubstr("no stock of small in any zone"));
}

TEST(FakeLimitsTest, AShortageMayBeToldAfterTheCreate) {
  FakeSet set(
      R"("zones": ["a", "b"], "late_shortages": 1, "types": {"small": {"stock": {"a": 0}}})");
  auto in_a = FakeSet::request("k1");
  in_a.zone = "a";

  const auto accepted = set.create(in_a);
  const auto shown = set.list();

  ASSERT_TRUE(accepted) << error_of(accepted);
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].state, model::CloudState::kFailed);
  EXPECT_EQ(shown[0].state_error, "Fake.NoStock: no stock of small in a");
  EXPECT_EQ(shown[0].shortage, model::Shortage{CloudErrorClass::kCapacity});
  EXPECT_EQ(set.create("k2").value().shortage, std::nullopt) << "the cloud chooses b";
}

TEST(FakeLimitsTest, AMachineHasTheUserThatItsCreateAsksFor) {
  FakeSet set("");
  auto asked = FakeSet::request("k1");
  asked.remote_user = "jane";

  const auto made = set.create(asked);
  asked.remote_user = "joe";
  const auto other = set.create(asked);

  EXPECT_EQ(made.value().remote_user, "jane");
  EXPECT_THAT(error_of(other), HasSubstr("known with other arguments"));
}

TEST(FakeLimitsTest, OfferingsSayWhatATypeHasAndWhereItIsInStock) {
  FakeSet set(R"("zones": ["a", "b"], "types": {"small": {"stock": {"a": 0, "b": 1},
      "price": 300, "vcpus": 2, "gpus": 1, "ram_gib": 8, "scratch_gib": 20}, "big": {}})");
  Awaited<std::vector<model::CloudOffering>> offerings;
  set->offerings({.provider_types = {"small"}, .market = model::Market::kSpot}, kPatience,
                 offerings.done());

  const auto found = offerings.get();

  ASSERT_TRUE(found) << error_of(found);
  ASSERT_EQ(found->size(), 2U) << "two zones, one type, one market";
  EXPECT_EQ(found->at(0).zone, "a");
  EXPECT_EQ(found->at(0).available, model::Availability::kNo);
  EXPECT_EQ(found->at(1).available, model::Availability::kYes);
  EXPECT_EQ(found->at(1).architecture, "x86_64");
  EXPECT_EQ(found->at(1).price_per_hour, std::optional(model::Micros{100}));
  EXPECT_EQ(found->at(1).resources,
            (model::Resources{.vcpus = 2, .gpus = 1, .ram = 8LL << 30U, .scratch = 20LL << 30U}));
}

TEST(FakeLimitsTest, WhatIsDestroyedIsInStockAgain) {
  FakeSet set(R"("types": {"small": {"stock": 1}})");
  const auto first = set.create("k1");
  ASSERT_FALSE(set.create("k2"));

  ASSERT_TRUE(set.destroy(first.value().id));

  EXPECT_TRUE(set.create("k3"));
}

TEST(FakeLimitsTest, AQuotaIsOfAllTypesOfItsGroup) {
  FakeSet set(
      R"("types": {"small": {"group": "g"}, "big": {"group": "g"}, "other": {}}, "quotas": {"g": 1})");
  Awaited<std::string> group;
  set->quota_group(FakeSet::request("any", "big").type, kPatience, group.done());

  ASSERT_TRUE(set.create("k1", "small"));
  const auto refused = set.create("k2", "big");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cls, CloudErrorClass::kQuota);
  EXPECT_EQ(refused.error().scope, scope::kGroup);
  EXPECT_EQ(refused.error().group, "g");
  EXPECT_EQ(refused.error().quota_limit, 1);
  EXPECT_EQ(refused.error().quota_used, 1);
  EXPECT_EQ(group.get().value(), "g");
  EXPECT_TRUE(set.create("k3", "other"));
}

TEST(FakeLimitsTest, AnAccountHasALimitOfMachines) {
  FakeSet set(R"("instances_max": 1)");

  ASSERT_TRUE(set.create("k1"));
  const auto refused = set.create("k2");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cls, CloudErrorClass::kQuota);
  EXPECT_EQ(refused.error().scope, scope::kAccount);
}

TEST(FakeLimitsTest, TooManyCallsAreRefusedUntilTheTimeThatTheErrorNames) {
  FakeSet set(R"("step": "100ms", "rate": {"per_second": 1, "burst": 2})");

  ASSERT_TRUE(set.create("k1"));  // the open was the first call
  const auto refused = set.create("k2");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cls, CloudErrorClass::kRateLimit);
  EXPECT_EQ(refused.error().scope, scope::kAccount);
  ASSERT_TRUE(refused.error().retry_after);
  const auto calls = *refused.error().retry_after / 100ms;
  for (int call = 1; call < calls; ++call) EXPECT_FALSE(set.create("k2")) << call;
  EXPECT_TRUE(set.create("k2")) << "after " << calls << " calls of 100 ms";
}

TEST(FakeLimitsTest, ASpotThatCostsMoreThanItsCapIsRefused) {
  FakeSet set(R"("types": {"small": {"price": 300, "spot_price": 100}})");
  auto asked = FakeSet::spot("k1");
  asked.price_cap_per_hour = model::Micros{99};
  const auto refused = set.create(asked);

  asked.price_cap_per_hour = model::Micros{100};
  const auto made = set.create(asked);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cls, CloudErrorClass::kCapacity);
  EXPECT_EQ(refused.error().scope, scope::kType | scope::kMarket);
  EXPECT_EQ(made.value().price_per_hour, model::Micros{100});
}

TEST(FakeLimitsTest, WhatIsAskedForAndNotThereIsRefused) {
  FakeSet set("");
  auto in_a_subnet = FakeSet::request("k1"), elsewhere = FakeSet::request("k2");
  in_a_subnet.subnet = "s";
  elsewhere.region = "mars";

  const auto refused = set.create(in_a_subnet);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cls, CloudErrorClass::kUnsupported);
  EXPECT_THAT(error_of(set.create(elsewhere)), HasSubstr("the region is fake"));
  EXPECT_THAT(set.list(), ::testing::IsEmpty());
}

TEST(FakeLimitsTest, AConfigThatIsWrongIsRefusedByTheNameOfItsField) {
  const FakeSet misspelt(R"("zonse": [])"), no_duration(R"("boot": "soon")"),
      no_chance(R"("errors": 2)");

  EXPECT_THAT(error_of(misspelt.opened()), HasSubstr("zonse is unknown"));
  EXPECT_THAT(error_of(no_duration.opened()), HasSubstr("boot is \"soon\""));
  EXPECT_THAT(error_of(no_chance.opened()), HasSubstr("errors is not from 0 to 1"));
}

}  // namespace
}  // namespace hostler::plugin_host

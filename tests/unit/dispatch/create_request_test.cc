#include "tests/unit/dispatch/story.h"

/// What a create says to the driver.
namespace hostler::dispatch {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class CreateRequestTest : public testing::Test {
 protected:
  void SetUp() override { story.begin(); }

  /// Begins anew, with another site.
  void open(const model::SitePolicy& site, bool has_spot = false) {
    story = Story(site);
    story.restore();
    model::SetInfo info;
    info.spot = has_spot;
    story.say(SetOpened{"west", info});
  }
  /// Submits one job and gives the call that its host is asked for by.
  CreateCall wanted() {
    (void)story.submit({story.job(2)});
    const auto calls = story.all<CreateCall>();
    EXPECT_THAT(calls, SizeIs(1));
    return calls.back();
  }

  Story story;
};

TEST_F(CreateRequestTest, CarriesTheTagsByWhichItIsFoundAgain) {
  const auto request = *wanted().request;
  EXPECT_EQ(request.tags, (model::Tags{{"hostler-set", "west"},
                                       {"hostler-owner", "us"},
                                       {"hostler-pool", "default"},
                                       {"hostler-epoch", "3"},
                                       {"hostler-key", request.idempotency_key},
                                       {"hostler-type", "small"},
                                       {"hostler-idle", "run"}}));
}

// Bug: a cloud that makes the user at the create was not told which one.
TEST_F(CreateRequestTest, NamesTheUserWhoWillLogIn) {
  auto site = small_site();
  site.sets[0].remote_user = "jane";
  open(site);
  EXPECT_EQ(wanted().request->remote_user, "jane");
}

// Bug: drivers were never told of the cap, so that spot requests went out without one.
TEST_F(CreateRequestTest, OnSpotCarriesThePriceThatItsPoolPaysAtMost) {
  auto site = small_site();
  site.types[0].market = model::Market::kSpot;
  open(site, true);
  EXPECT_EQ(wanted().request->price_cap_per_hour, model::Micros{0}) << "none";
  site.pools[0].price_cap_per_hour = {70};
  open(site, true);
  EXPECT_EQ(wanted().request->price_cap_per_hour, model::Micros{70});
}

// Bug: a driver that heeds it could refuse an instance whose price the menu has, in cents.
TEST_F(CreateRequestTest, OnDemandCarriesNoPriceCap) {
  auto site = small_site();
  site.pools[0].price_cap_per_hour = {70};
  open(site);
  EXPECT_EQ(wanted().request->price_cap_per_hour, model::Micros{0});
}

// Bug: the create was sent, and each driver had to refuse it by itself.
TEST_F(CreateRequestTest, ForSpotIsNotSentToADriverThatHasNoneAndTheJobSaysWhy) {
  auto site = small_site();
  site.types[0].market = model::Market::kSpot;
  site.pools[0].spot_shortage_patience = 10min;
  open(site);

  (void)story.submit({story.job(2)});

  for (const auto& call : story.all<CreateCall>())
    EXPECT_NE(call.request->type.market, model::Market::kSpot);
  EXPECT_EQ(story.dispatcher.queries().waiting(WorkId{1})->reason,
            "small: the driver of set west has no spot instances on this account");
}

TEST_F(CreateRequestTest, SaysWhereInTheCloudThePoolAndElseTheTypeIsPut) {
  auto site = small_site();
  auto& of = site.types[0].placement;
  of.subnets = {{"subnet-t", ""}}, of.security_groups = {"sg-t"}, of.profiles = {"default", "t"};
  of.placement_group = "group-t", of.tenancy = model::Tenancy::kDedicated;
  site.types[0].provider_params_json = R"({"a":1})";
  open(site);
  const auto of_type = *wanted().request;
  EXPECT_EQ(of_type.subnet, "subnet-t");
  EXPECT_THAT(of_type.placement.security_groups, ElementsAre("sg-t"));
  EXPECT_THAT(of_type.placement.profiles, ElementsAre("default", "t"));
  EXPECT_EQ(of_type.type.provider_params_json, R"({"a":1})");

  auto& pool = site.pools[0];
  pool.placement.subnets = {{"subnet-p", ""}}, pool.placement.security_groups = {"sg-p", "sg-q"};
  pool.placement.profiles = {"p"}, pool.placement.placement_group = "group-p";
  pool.provider_params["small"] = R"({"a":2})";
  open(site);
  const auto of_pool = *wanted().request;
  EXPECT_EQ(of_pool.subnet, "subnet-p");
  EXPECT_THAT(of_pool.placement.security_groups, ElementsAre("sg-p", "sg-q"));
  EXPECT_THAT(of_pool.placement.profiles, ElementsAre("p"));
  EXPECT_EQ(of_type.placement.placement_group, "group-t");
  EXPECT_EQ(of_pool.placement.placement_group, "group-p");
  EXPECT_EQ(of_pool.placement.tenancy, model::Tenancy::kDedicated);
  EXPECT_EQ(of_pool.type.provider_params_json, R"({"a":2})");
}

TEST_F(CreateRequestTest, HasTheRootDiskOfThePoolAndElseOfTheType) {
  auto site = small_site();
  site.types[0].placement.root_disk = 20;
  site.types[0].added_scratch = 7;
  open(site);
  const auto request = wanted().request;
  EXPECT_EQ(request->placement.root_disk, 20);
  EXPECT_EQ(request->type.added_scratch, 7);

  site.pools[0].placement.root_disk = 30;
  open(site);
  EXPECT_EQ(wanted().request->placement.root_disk, 30);
}

// A full subnet of one pool is nothing to the creates of another.
TEST_F(CreateRequestTest, AFullSubnetShutsTheCreatesThatNameIt) {
  auto site = small_site();
  site.pools[0].placement.subnets = {{"subnet-a", ""}};
  open(site);
  auto full = error(CloudErrorClass::kCapacity);
  full.scope = model::scope::kSubnet;
  story.create_ended(wanted().instance, full);

  const auto gates = story.dispatcher.queries().gates(story.now.mono);
  ASSERT_THAT(gates, SizeIs(1));
  EXPECT_EQ(gates[0].subnet, "subnet-a");
}

TEST_F(CreateRequestTest, AfterADefiniteRefusalAnotherSubnetIsTriedWithAnotherKey) {
  auto site = small_site();
  site.pools[0].placement.subnets = {{"subnet-a", "za"}, {"subnet-b", "zb"}};
  open(site);
  const auto first = wanted();
  EXPECT_EQ(first.request->subnet, "subnet-a");
  EXPECT_EQ(first.request->zone, "za");
  auto full = error(CloudErrorClass::kCapacity);
  full.scope = model::scope::kSubnet;
  story.create_ended(first.instance, full);
  story.pass(2s);

  const auto calls = story.all<CreateCall>();
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(calls[1].request->subnet, "subnet-b");
  EXPECT_EQ(calls[1].request->zone, "zb");
  EXPECT_NE(calls[1].request->idempotency_key, first.request->idempotency_key);
}

TEST_F(CreateRequestTest, AfterAnUnknownOutcomeNoOtherSubnetIsTriedBeforeAListHasAnswered) {
  auto site = small_site();
  site.pools[0].placement.subnets = {{"subnet-a", ""}, {"subnet-b", ""}};
  open(site);
  const auto first = wanted();
  story.create_ended(first.instance, error(CloudErrorClass::kTimeout, true));
  story.pass(2s);

  for (const auto& call : story.all<CreateCall>())
    EXPECT_EQ(call.request->subnet, "subnet-a") << "only the same create again, if any";
}

TEST_F(CreateRequestTest, ASubnetIsOfferedInItsOwnZoneOnly) {
  auto site = small_site();
  site.types[0].zones = {"za", "zb"};
  site.types[0].placement.subnets = {{"subnet-b", "zb"}, {"subnet-c", "zc"}};
  open(site);
  const auto request = wanted().request;
  EXPECT_EQ(request->zone, "zb");
  EXPECT_EQ(request->subnet, "subnet-b");
}

TEST_F(CreateRequestTest, ANameIsCutToWhatTheSetTakesAndKeepsTheId) {
  const auto name = [](std::uint32_t name_max, const std::string& pool) {
    auto site = small_site();
    site.pools[0].name = pool;
    Story tight(site);
    tight.restore();
    model::SetInfo info;
    info.name_max = name_max;
    tight.say(SetOpened{"west", info});
    (void)tight.submit({tight.job()});
    return tight.all<CreateCall>().at(0).request->name_hint;
  };

  EXPECT_EQ(name(14, "default"), "hostler-de-h-1");
  EXPECT_EQ(name(4, "default"), "h-1");
  EXPECT_EQ(name(2, "default"), "") << "no name is asked for";
  // Bug: where the driver says nothing it had up to 100 characters.
  EXPECT_EQ(name(0, std::string(63, 'p')), "hostler-" + std::string(51, 'p') + "-h-1");
}

}  // namespace
}  // namespace hostler::dispatch

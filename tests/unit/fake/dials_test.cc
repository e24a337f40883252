// Time: latency, boot, consistency, reclaim and prices.
#include <algorithm>
#include <set>

#include "tests/unit/fake/fake_set.h"

namespace hostler::plugin_host {
namespace {

using model::CloudErrorClass;
using model::CloudState;
using ::testing::HasSubstr;
using ::testing::SizeIs;

bool all_run(const std::vector<model::ListedInstance>& listed) {
  return !listed.empty() && listed[0].state == CloudState::kRunning;
}

TEST(FakeDialsTest, AMachineBootsForAsLongAsTheDialSays) {
  FakeSet set(R"("boot": "5s", "address": "198.51.100.7", "ssh_port": 2222)");

  const auto created = set.create("k1");
  const int lists = set.lists_until(all_run);
  const auto running = set.list();

  EXPECT_EQ(created.value().state, CloudState::kPending);
  EXPECT_EQ(created->address, "");
  EXPECT_EQ(lists, 5);
  EXPECT_EQ(running[0].address, "198.51.100.7");
  EXPECT_EQ(running[0].ssh_port, 2222);
}

TEST(FakeDialsTest, SomeMachinesBootLongerAndSomeNever) {
  FakeSet set(R"("boot": "1s", "boot_spread": "20s", "boot_failures": 0.5)");
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(set.create("k" + std::to_string(i)));
  const auto count = [](const std::vector<model::ListedInstance>& listed, CloudState state) {
    return std::count_if(listed.begin(), listed.end(),
                         [&](const auto& one) { return one.state == state; });
  };
  EXPECT_GT(count(set.list(), CloudState::kPending), 0);

  set.lists_until([&](const auto& listed) { return count(listed, CloudState::kPending) == 0; });

  EXPECT_GT(count(set.list(), CloudState::kRunning), 2);
  EXPECT_GT(count(set.list(), CloudState::kFailed), 2);
}

TEST(FakeDialsTest, ACallTakesAsLongAsTheLatencyAndGivesUpAtItsDeadline) {
  FakeSet steps(R"("latency": "1h", "boot": "1h")");
  ASSERT_TRUE(steps.create("k1")) << "a clock of steps waits for nobody";
  EXPECT_TRUE(all_run(steps.list())) << "but it has moved by an hour";

  const FakeSet real(R"("latency": "1h")", "real", 10ms);
  ASSERT_FALSE(real.opened());
  EXPECT_EQ(real.opened().error().cls, CloudErrorClass::kTimeout);
}

TEST(FakeDialsTest, AChangeShowsInAListAfterAtMostTheTimeOfConsistency) {
  FakeSet set(R"("consistency": "10s", "seed": 4)");
  EXPECT_EQ(set.opened().value().list_consistency, 10s);
  std::vector<int> shown, gone;
  for (int i = 0; i < 10; ++i) {
    const auto made = set.create("k" + std::to_string(i));
    shown.push_back(set.lists_until([](const auto& listed) { return !listed.empty(); }));
    ASSERT_TRUE(set.destroy(made.value().id));
    gone.push_back(set.lists_until([](const auto& listed) { return listed.empty(); }));
  }

  for (const auto& lists : {shown, gone}) {
    EXPECT_LE(*std::max_element(lists.begin(), lists.end()), 10);
    EXPECT_GT(*std::max_element(lists.begin(), lists.end()), 3) << "some take long";
    EXPECT_LT(*std::min_element(lists.begin(), lists.end()), 4) << "some do not";
  }
}

TEST(FakeDialsTest, ASpotIsTakenBackAfterANotice) {
  FakeSet set(R"("reclaim": "20s", "reclaim_notice": "3s")");
  ASSERT_TRUE(set.create(FakeSet::spot("k1")));
  ASSERT_TRUE(set.create("k2"));
  const auto of_spot = [](const auto& listed) {
    return std::find_if(listed.begin(), listed.end(),
                        [](const auto& one) { return one.market == model::Market::kSpot; });
  };

  const int until_notice =
      set.lists_until([&](const auto& listed) { return of_spot(listed)->interruption.us > 0; });
  const int until_end =
      set.lists_until([&](const auto& listed) { return of_spot(listed) == listed.end(); });

  EXPECT_GE(until_notice, 5);
  EXPECT_LE(until_notice, 30);
  EXPECT_EQ(until_end, 3);
  EXPECT_THAT(set.list(), SizeIs(1)) << "on demand stays";
}

TEST(FakeDialsTest, SpotPricesMoveWithinTheirSpreadAtEachInterval) {
  FakeSet set(
      R"("types": {"small": {"price": 1000, "spot_price": 100}}, "step": "1m",
         "price_interval": "10m", "price_spread": 0.5)");
  for (int i = 0; i < 100; ++i) set.list();

  const auto prices = set.prices();

  ASSERT_GT(prices.size(), 8U);
  std::set<std::int64_t> seen;
  for (const auto& price : prices) {
    EXPECT_EQ(price.point.start.us % (600 * 1'000'000LL), 0) << "at the begin of an interval";
    EXPECT_GE(price.point.per_hour.value, 50);
    EXPECT_LE(price.point.per_hour.value, 150);
    seen.insert(price.point.per_hour.value);
  }
  EXPECT_GT(seen.size(), 5U);
}

TEST(FakeDialsTest, AMachineOfAnotherSetIsNotDestroyed) {
  FakeSet set("");
  const auto made = set.create("k1");
  ASSERT_TRUE(made);

  EXPECT_THAT(error_of(set.destroy(made->id, "another")), HasSubstr("is another set's"));
  EXPECT_TRUE(set.destroy(made->id, "s1"));
  EXPECT_TRUE(set.destroy(made->id, "s1")) << "there is none any more";
}

TEST(FakeDialsTest, AListShowsWhatItsFiltersSayAndTagsAsTheyWereChanged) {
  FakeSet set("");
  const auto one = set.create("k1"), two = set.create("k2");
  ASSERT_TRUE(two);
  Awaited<DriverSet::Nothing> tagged, missing;
  set->set_tags({.id = two->id, .set = {{"hostler-idle", "hold"}}}, kPatience, tagged.done());
  set->set_tags({.id = "fake-77", .set = {}}, kPatience, missing.done());

  EXPECT_TRUE(tagged.get());
  EXPECT_EQ(missing.get().error().cls, CloudErrorClass::kNotFound);
  const auto by_id = set.list({.tag_filter = {}, .ids = {one.value().id, "fake-77"}});
  ASSERT_THAT(by_id, SizeIs(1));
  EXPECT_EQ(by_id[0].id, one->id);
  const auto by_tag = set.list({.tag_filter = {{"hostler-idle", "hold"}}, .ids = {}});
  ASSERT_THAT(by_tag, SizeIs(1));
  EXPECT_EQ(by_tag[0].idle, "hold");
}

}  // namespace
}  // namespace hostler::plugin_host

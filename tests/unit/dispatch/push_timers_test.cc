#include "tests/unit/dispatch/pushed.h"

/// The silence of outside schedulers, and what time alone brings.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

using PushTimersTest = PushesTest;

TEST_F(PushTimersTest, APushThatIsTooOldHoldsThePool) {
  begin();
  const auto ids = story.made(1);
  story.push(0, {ids[0]});
  EXPECT_THAT(story.conditions(), IsEmpty());
  story.pass(1min);
  story.pass(1h);
  EXPECT_FALSE(story.ends(ids[0]));
  EXPECT_THAT(story.conditions(), Contains(HasSubstr("the last push is older than 1 m")));
}

TEST_F(PushTimersTest, AnAbandonedPoolEmptiesAfterAnAlarm) {
  auto site = pushed_site();
  site.pools[0].sizes.min = 1;
  site.pools[0].pushed->abandoned_after = 2h;
  begin(site);
  const auto ids = story.made(2);
  ASSERT_THAT(ids, SizeIs(2));
  story.push(0, {ids[0]}, {ids[1]});
  story.clear();
  story.pass(96min);
  EXPECT_THAT(story.ledger(), Contains(HasSubstr("pool_abandon_soon")));
  EXPECT_FALSE(story.ends(ids[0]) || story.ends(ids[1]));
  story.pass(24min);
  EXPECT_THAT(story.ledger(), Contains(HasSubstr("pool_abandoned")));
  story.pass(1min);
  for (const auto id : ids) EXPECT_TRUE(story.ends(id)) << id.text();
  story.push(0, {});
  EXPECT_THAT(story.conditions(), IsEmpty());
}

TEST_F(PushTimersTest, APushThatIsTooOldAlarmsOnce) {
  begin();
  const auto ids = story.made(1);
  story.clear();
  story.push(0, {}, ids);
  story.pass(50s);
  EXPECT_THAT(story.ledger(), Not(Contains(HasSubstr("push_too_old"))));
  story.pass(10s);
  EXPECT_THAT(story.ledger(), Contains(HasSubstr("push_too_old")));
  story.clear();
  story.pass(1h);
  EXPECT_THAT(story.ledger(), Not(Contains(HasSubstr("push_too_old"))));
}

TEST_F(PushTimersTest, AReloadStopsTheEmptyingOfAnAbandonedPool) {
  auto site = pushed_site();
  site.pools[0].pushed->abandoned_after = 2h;
  begin(site);
  const auto ids = story.made(1);
  story.push(0, {}, ids);
  story.plans_wait = true;
  story.pass(2h);
  site.pools[0].pushed->abandoned_after = Duration::zero();
  story.say(PolicyChanged{site});
  story.plans_wait = false;
  story.pass(1h);
  EXPECT_FALSE(story.ends(ids[0]));
}

TEST_F(PushTimersTest, ATickTellsTheHostsByStateEvery90Seconds) {
  begin();
  const auto ids = story.made(2);
  story.clear();
  story.keep(5min, 0, {}, ids);
  std::vector<std::string> ticks;
  for (const auto& record : story.journalled<model::LedgerRecord>())
    if (record.event == model::Event::kPoolTick) ticks.push_back(record.reason);
  EXPECT_THAT(ticks, SizeIs(testing::Le(4U)));
  EXPECT_THAT(ticks, Contains("2 busy of small"));
}

TEST_F(PushTimersTest, AShorterLimitEmptiesThePoolAfterItsAlarmOnly) {
  begin();
  const auto ids = story.made(1);
  story.push(0, {}, ids);
  story.pass(3h);
  story.clear();
  auto site = pushed_site();
  site.pools[0].pushed->abandoned_after = 1h;
  story.say(PolicyChanged{site});
  story.pass(1min);
  EXPECT_THAT(story.ledger(), Contains(HasSubstr("pool_abandon_soon")));
  EXPECT_FALSE(story.ends(ids[0]));
  story.pass(12min);
  EXPECT_TRUE(story.ends(ids[0]));
}

}  // namespace
}  // namespace hostler::dispatch

#include "core/dispatch/state/hosts.h"

#include <gmock/gmock.h>

#include "tests/unit/dispatch/story.h"

namespace hostler::dispatch {
namespace {

struct HostsTest : testing::Test {
  Host& add() {
    Host made;
    made.instance.record.id = hosts.next_id();
    made.instance.record.set = "west";
    made.instance.type = 0;
    return hosts.add(std::move(made));
  }

  const model::SitePolicy policy = small_site();
  Sets sets{policy};
  Menu menu{policy};
  HostViewer viewer{policy, sets, menu};
  Hosts hosts;
};

TEST_F(HostsTest, AChangedHostIsViewedAgainBeforeItIsShown) {
  const InstanceId id = add().id();
  EXPECT_TRUE(hosts.refresh_views(viewer)) << "a new host is worth a plan";
  EXPECT_FALSE(hosts.refresh_views(viewer)) << "nothing has changed";

  hosts.change(id)->instance.record.idle_behavior = model::IdleBehavior::kHold;
  EXPECT_TRUE(hosts.refresh_views(viewer));
  EXPECT_TRUE(hosts.views()[0].kept);
}

TEST_F(HostsTest, FreeRoomIsSeenAndIsNoReasonForAPlan) {
  Host& host = add();
  host.instance.occupancy.add(
      {{{1}, 1}, "boot", 1, {.vcpus = 1, .gpus = 0, .ram = 1, .scratch = 0}});
  host.instance.occupancy.add(
      {{{2}, 1}, "boot", 2, {.vcpus = 1, .gpus = 0, .ram = 1, .scratch = 0}});
  (void)hosts.refresh_views(viewer);

  hosts.change(host.id())->instance.occupancy.release({{1}, 1});
  EXPECT_FALSE(hosts.refresh_views(viewer));
  EXPECT_EQ(hosts.views()[0].free.vcpus, 1);
}

using HostsDeathTest = HostsTest;

TEST_F(HostsDeathTest, ViewsAreNeverShownWhileAHostIsTouched) {
  add();
  EXPECT_DEATH((void)hosts.views(), "viewed again before it is shown");
}

TEST_F(HostsDeathTest, AHostWithAttemptsIsNeverErased) {
  Host& host = add();
  host.instance.occupancy.add({{{1}, 1}, "boot", 1, {}});
  EXPECT_DEATH(hosts.erase(host.id()), "has no attempts");
}

TEST_F(HostsTest, AnErasedHostLeavesNoKeyNoDeadlineAndNoView) {
  Host made;
  made.instance.record.id = hosts.next_id();
  made.instance.record.idempotency_key = "key-1";
  Host& host = hosts.add(std::move(made));
  const InstanceId id = host.id();
  host.instance.deadline = Mono(1h);
  hosts.schedule(host);
  model::ListedInstance seen;
  seen.idempotency_key = "key-1";
  EXPECT_EQ(hosts.find_listed("west", seen), id);

  hosts.erase(id);
  EXPECT_FALSE(hosts.find_listed("west", seen));
  EXPECT_FALSE(hosts.pop_due(Mono(2h)));
  (void)hosts.refresh_views(viewer);
  EXPECT_TRUE(hosts.views().empty());
}

TEST_F(HostsTest, ANewReservationReplacesThoseOfThePlanBefore) {
  const InstanceId first = add().id(), second = add().id();
  hosts.reserve(first, 4);
  hosts.clear_reservations();
  hosts.reserve(second, 5);
  EXPECT_FALSE(hosts.find(first)->reserved_for);
  EXPECT_EQ(hosts.find(second)->reserved_for, 5U);
}

TEST(DeadlinesTest, FireInTheOrderOfTimeAndOnce) {
  Deadlines deadlines;
  deadlines.set({1}, Mono(3h));
  deadlines.set({2}, Mono(2h));
  deadlines.set({1}, Mono(1h));
  EXPECT_EQ(deadlines.next(), Mono(1h));
  EXPECT_EQ(deadlines.pop_due(Mono(5h)), InstanceId{1});
  EXPECT_EQ(deadlines.pop_due(Mono(5h)), InstanceId{2});
  EXPECT_FALSE(deadlines.pop_due(Mono(5h)));
  EXPECT_EQ(deadlines.next(), fleet::kNever);
}

TEST(DeadlinesTest, OneThatWasMovedOrRemovedDoesNotFireAtItsOldTime) {
  Deadlines deadlines;
  deadlines.set({1}, Mono(1h));
  deadlines.set({1}, Mono(2h));
  deadlines.set({2}, Mono(1h));
  deadlines.remove({2});
  EXPECT_FALSE(deadlines.pop_due(Mono(1h)));
}

TEST(InstanceKeysTest, AKeyThatNamesAnotherInstanceByNowStays) {
  InstanceKeys keys;
  model::InstanceRecord first, second;
  first.id = {1}, second.id = {2};
  first.set = second.set = "west";
  first.provider_id = second.request_id = "i-1";
  keys.add(first);
  keys.add(second);
  keys.remove(first);
  model::ListedInstance seen;
  seen.id = "i-1";
  EXPECT_EQ(keys.find("west", seen), InstanceId{2});
  EXPECT_FALSE(keys.find("east", seen)) << "cloud ids are of their set";
}

}  // namespace
}  // namespace hostler::dispatch

// What several sources say of the bounds of a pool becomes one number for each bound.
#include "core/scheduler/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using enum BoundOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A pool with at least 1 host, at most 10; two hosts that are alive, one that is switched off, and
/// one that drains.
struct BoundedSite : Site {
  const std::uint32_t small = type("small", 2, 4, 100);
  BoundedSite() {
    pool().sizes = {.min = 1, .max = 10, .standby = 0, .stopped = 1};
    snapshot.offerings[small].can_stop = true;
    for (std::uint64_t id = 1; id <= 4; ++id) host(id, small).can_stop = true;
    at(3).phase = HostPhase::kStopped;
    at(3).can_wake = true;
    at(4).draining = true;
    snapshot.bounds.resize(1);
  }
  HostView& at(std::uint64_t id) { return snapshot.hosts[id - 1]; }
  void idle() {
    for (HostView& h : snapshot.hosts) h.since = snapshot.now - 1h;
  }
  void say(BoundOf of, std::optional<std::int64_t> number, const std::string& source = "pushed") {
    snapshot.bounds[0].push_back(
        {.of = of, .source = source, .number = number, .reason = "7 tasks", .until = {}});
  }
  [[nodiscard]] PoolNumbers numbers() const {
    return numbers_of(policy, snapshot.bounds, snapshot.hosts, snapshot.set_aside, 0);
  }
};

TEST(BoundsTest, TheConfigurationAloneSaysWhatItHas) {
  const PoolNumbers bounds = BoundedSite().numbers();
  EXPECT_EQ(bounds.started.min.text(), "1");
  EXPECT_EQ(bounds.started.max.text(), "10");
  EXPECT_EQ(bounds.stopped.text(), "1");
  EXPECT_EQ(bounds.created.min.value, 0);
  EXPECT_EQ(bounds.created.max.value, kNoLimit) << "there is no limit";
  EXPECT_FALSE(bounds.has_created || bounds.has_unknown_min || bounds.is_held);
}

TEST(BoundsTest, TheLargestMinimumAndTheSmallestMaximumCount) {
  BoundedSite site;
  site.say(kStartedMin, 3, "pushed");
  site.say(kStartedMin, 2, "admin");
  site.say(kStartedMax, 20, "pushed");
  site.say(kStandby, 2, "expression");
  EXPECT_EQ(site.numbers().started.min.text(), "3 (pushed: 7 tasks)");
  EXPECT_EQ(site.numbers().started.max.text(), "10");
  EXPECT_EQ(site.numbers().standby.text(), "2 (expression: 7 tasks)");
}

TEST(BoundsTest, TheMaximumWins) {
  BoundedSite site;
  site.say(kStartedMin, 30, "pushed");
  site.say(kCreatedMin, 8, "pushed");
  site.say(kCreatedMax, 5, "admin");
  const PoolNumbers bounds = site.numbers();
  EXPECT_EQ(bounds.created.min.value, 5);
  EXPECT_EQ(bounds.started.max.value, 5) << "started hosts are created ones";
  EXPECT_EQ(bounds.started.min.text(), "5 (admin: 7 tasks)") << "the mark is the number's";
  EXPECT_FALSE(bounds.is_held);
}

TEST(BoundsTest, AnUnknownMinimumCountsAsWhatIsThere) {
  for (const BoundOf of : {kStartedMin, kStandby}) {
    BoundedSite site;
    site.say(of, std::nullopt);
    EXPECT_EQ(site.numbers().started.min.text(), "2 (as now, pushed does not know: 7 tasks)");
    EXPECT_EQ(site.numbers().standby.value, 0) << "no host is created for it";
    EXPECT_EQ(site.numbers().created.min.value, 0);
  }
  BoundedSite site;
  site.say(kCreatedMin, std::nullopt);
  EXPECT_EQ(site.numbers().created.min.value, 3);
  EXPECT_EQ(site.numbers().started.min.value, 2) << "none is switched off for it";
  BoundedSite other;
  other.say(kStopped, std::nullopt);
  EXPECT_EQ(other.numbers().created.min.value, 3);
  EXPECT_EQ(other.numbers().started.min.value, 2);
}

TEST(BoundsTest, AnUnknownMaximumCountsAsWhatIsThereOrTheLargestKnownMinimum) {
  BoundedSite site;
  site.snapshot.set_aside = {1};
  site.say(kStartedMax, std::nullopt);
  EXPECT_EQ(site.numbers().started.max.value, 3) << "the one that is set aside counts";
  site.say(kStartedMin, 7, "admin");
  EXPECT_EQ(site.numbers().started.max.value, 9)
      << "beside one that is set aside and one that goes";
  site.say(kStartedMax, 5, "admin");
  EXPECT_EQ(site.numbers().started.max.value, 5);
  EXPECT_EQ(site.numbers().started.min.value, 5);
  site.say(kCreatedMax, std::nullopt);
  EXPECT_EQ(site.numbers().created.max.value, 10) << "and one that is switched off";
}

TEST(BoundsTest, OnlyTheConfigurationHoldsAPoolByAContradiction) {
  BoundedSite site;
  site.idle();
  site.at(4).phase = HostPhase::kLeaving;
  site.say(kStartedMin, 4);
  site.say(kStartedMax, 3);
  EXPECT_FALSE(site.numbers().is_held);
  EXPECT_THAT(site.plan().wakes, SizeIs(1)) << "of 3, at most";
  site.pool().sizes.min = 11;
  EXPECT_TRUE(site.numbers().is_held);
  EXPECT_THAT(site.plan().wakes, IsEmpty());
}

TEST(BoundsTest, NumbersOfAnySizeAreCut) {
  BoundedSite site;
  site.say(kStartedMin, INT64_MAX);
  site.say(kCreatedMin, INT64_MAX);
  site.say(kStandby, INT64_MIN);
  EXPECT_EQ(site.numbers().started.min.value, 10);
  EXPECT_EQ(site.numbers().created.min.value, 1'000'000'000);
  EXPECT_EQ(site.numbers().standby.value, 0);
}

TEST(BoundsTest, TextsNameTheSource) {
  BoundedSite site;
  site.at(4).phase = HostPhase::kLeaving;
  site.say(kStartedMin, 5);
  site.say(kStartedMax, 4, "admin");
  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1)) << "another one is woken";
  EXPECT_EQ(plan.creates[0].reason, "minimum of 4 (admin: 7 tasks) in pool default");
  site.jobs(9, 2);
  EXPECT_EQ(site.plan().waiting.at(0).rest_reason,
            "pool default is at its ceiling: max of 4 (admin: 7 tasks)");
}

TEST(BoundsTest, HostsBeyondAMaximumOfAnySourceAreClosed) {
  BoundedSite site;
  site.say(kStartedMax, 1);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.closed, SizeIs(1));
  ASSERT_THAT(ended(plan), Contains(std::pair(std::uint64_t{2}, model::Reason::kBeyondMax)));
  EXPECT_THAT(plan.shutdowns.at(0).reason, HasSubstr("its maximum of 1 (pushed: 7 tasks)"));
}

// ---- created hosts
// -------------------------------------------------------------------------------

TEST(CreatedBoundsTest, WhatIsMissingIsCreatedAndThenSwitchedOff) {
  BoundedSite site;
  site.say(kCreatedMin, 5);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(2));
  EXPECT_EQ(plan.creates[0].reason,
            "minimum of 5 (pushed: 7 tasks) with switched-off hosts in pool default");
  site.idle();
  EXPECT_THAT(site.plan().switch_offs, SizeIs(1)) << "the minimum keeps one alive";
}

TEST(CreatedBoundsTest, WhereNoHostCanBeSwitchedOffTheyStayOn) {
  BoundedSite site;
  site.snapshot.offerings[site.small].can_stop = false;
  for (HostView& h : site.snapshot.hosts) h.can_stop = false;
  site.say(kCreatedMin, 4);
  site.idle();
  const Plan plan = site.plan();
  EXPECT_THAT(plan.creates, SizeIs(2));
  EXPECT_THAT(ended(plan), testing::Not(Contains(testing::Pair(1, model::Reason::kIdle))));
  EXPECT_THAT(ended(plan), testing::Not(Contains(testing::Pair(2, model::Reason::kIdle))));
}

TEST(CreatedBoundsTest, SwitchedOffHostsBeyondTheMaximumEndFirst) {
  BoundedSite site;
  site.say(kCreatedMax, 2);
  EXPECT_THAT(ended(site.plan()), Contains(testing::Pair(3, model::Reason::kStandbySurplus)));
  EXPECT_THAT(site.plan().closed, IsEmpty());
  EXPECT_THAT(site.plan().creates, IsEmpty());
}

TEST(CreatedBoundsTest, ASwitchedOffHostCountsForCreatedBoundsOnly) {
  BoundedSite site;
  site.pool().sizes.stopped = 0;
  site.pool().sizes.max = 5;
  site.say(kCreatedMin, 3);
  site.jobs(6, 2);
  const Plan plan = site.plan();
  EXPECT_EQ(plan.wakes.size() + plan.creates.size(), 2U) << "two are alive and one drains, of 5";
  site.at(3).can_wake = false;
  EXPECT_THAT(site.plan().creates, SizeIs(2)) << "the one that is off takes no room";
}

}  // namespace
}  // namespace hostler::scheduler

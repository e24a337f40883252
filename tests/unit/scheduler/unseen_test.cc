#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scheduler/plan.h"
#include "tests/unit/scheduler/world_builder.h"

/// Hosts that no list shows, as the lists of their set do not come.
namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

/// The set "west", whose lists hang, with the host h-1 that no list shows; the same type in "east".
struct TwoSets : Site {
  std::uint32_t west = type("small", 2, 4, 100);
  std::uint32_t east = type("small", 2, 4, 100);

  TwoSets() {
    policy.sets.resize(2);
    policy.sets[1].name = "east";
    snapshot.sets.resize(2);
    snapshot.offerings[west].shut = "no list for 38 s";
    snapshot.offerings[east].set = 1;
    unseen(1);
  }
  HostView& unseen(std::uint64_t id) {
    HostView& h = host(id, west, HostPhase::kComing);
    h.unseen = true;
    return h;
  }
};

TEST(UnseenTest, WorkGoesToAnotherSetThatCanTakeIt) {
  TwoSets site;
  site.jobs(1, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(bought(plan), ElementsAre(site.east));
  EXPECT_THAT(plan.covered, IsEmpty());
  EXPECT_THAT(plan.shutdowns, IsEmpty()) << "nobody knows yet what is too many";
}

TEST(UnseenTest, NothingIsBoughtTwiceWhereNoOtherSetCanTakeIt) {
  TwoSets site;
  const demand::ClassId cls = site.jobs(3, 1);
  const auto check = [&](const char* why) {
    const Plan plan = site.plan();
    EXPECT_THAT(plan.creates, IsEmpty()) << why;
    ASSERT_THAT(plan.covered, SizeIs(1)) << why;
    EXPECT_EQ(plan.covered[0].count, 2U) << "the room of the host";
    ASSERT_THAT(plan.waiting, SizeIs(1));
    EXPECT_EQ(plan.waiting[0].code, model::WaitingCode::kHostComing);
    EXPECT_THAT(plan.waiting[0].reason, HasSubstr("h-1, and no list shows it: no list for 38 s"));
  };
  site.snapshot.offerings[site.east].shut = "a gate";
  check("the other set refuses");
  site.snapshot.offerings[site.east].shut.clear();
  site.pool().sizes.max = 1;
  check("the pool is full");
  site.pool().sizes.max = 1000;
  site.snapshot.site.instances = 0;
  check("a ceiling");
  site.snapshot.site = {};
  site.snapshot.offerings[site.east].resources.vcpus = 1;
  site.snapshot.classes[cls].shape.needs.vcpus = 2;
  site.snapshot.classes[cls].count = 1;
  EXPECT_THAT(site.plan().creates, IsEmpty()) << "it does not fit there";
}

TEST(UnseenTest, AlsoIfTheSnapshotDoesNotSayThatItsSetRefusesCreates) {
  TwoSets site;
  site.snapshot.offerings[site.west].shut.clear();
  site.snapshot.offerings.resize(1);
  site.jobs(1, 1);
  EXPECT_THAT(site.plan().creates, IsEmpty());
}

TEST(UnseenTest, OtherSetsTakeWhatTheyCanAndTheRestWaitsForTheHost) {
  TwoSets site;
  site.snapshot.site.instances = 1;
  site.jobs(4, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(bought(plan), ElementsAre(site.east));
  ASSERT_THAT(plan.covered, SizeIs(1));
  EXPECT_EQ(plan.covered[0].count, 2U);
}

TEST(UnseenTest, ItCountsForTheMinimumAndTheMaximum) {
  TwoSets site;
  site.pool().sizes.min = 1;
  EXPECT_THAT(site.plan().creates, IsEmpty());
  site.pool().sizes.min = 0;
  site.pool().sizes.max = 2;
  site.jobs(9, 2);
  EXPECT_THAT(bought(site.plan()), ElementsAre(site.east));
}

TEST(UnseenTest, WhenAListHasComeWhatIsTooManyEndsAndWhatIsNeededStays) {
  TwoSets site;
  HostView& seen = site.snapshot.hosts[0];
  seen.unseen = false;
  seen.work_cancelled = true;  // Its work may have gone elsewhere.
  site.occupy(site.host(2, site.east), {.vcpus = 1});
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, model::Reason::kBootingSurplus)));
  site.pool().sizes.min = 1;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, model::Reason::kBootingSurplus)))
      << "the busy host is the minimum";
  site.pool().sizes.min = 2;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
  site.pool().sizes.min = 0;
  site.jobs(1, 2);
  EXPECT_THAT(site.plan().shutdowns, IsEmpty()) << "work waits for it";
  EXPECT_THAT(site.plan().creates, IsEmpty());
}

}  // namespace
}  // namespace hostler::scheduler

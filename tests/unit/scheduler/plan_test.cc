#include "core/scheduler/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(PlanTest, PlacesTheHighestPriorityFirst) {
  Site site;
  site.host(1, site.type("small", 1, 4, 100));
  const ClassId urgent = site.jobs(1, 1, 1, 9);
  site.jobs(1, 1, 1, 0);

  EXPECT_EQ(placed(site.plan(), urgent), 1U);
}

TEST(PlanTest, CreatesWhatIsMissingAndDoesNotRepeatIt) {
  Site site;
  site.type("small", 2, 4, 100);
  site.jobs(3, 1);

  const Plan first = site.plan();
  EXPECT_EQ(first.creates.size(), 2U);

  site.apply(first);
  const Plan second = site.plan();
  EXPECT_THAT(second.creates, IsEmpty());
  EXPECT_THAT(second.shutdowns, IsEmpty());
}

TEST(PlanTest, ShutsDownAnIdleHostExactlyAtItsTimeout) {
  Site site;
  site.host(1, site.type("small", 2, 4, 100)).since = site.snapshot.now - 1min + 1ns;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());

  site.snapshot.hosts[0].since = site.snapshot.now - 1min;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, ShutdownCode::kIdle)));
}

}  // namespace
}  // namespace hostler::scheduler

#include "core/scheduler/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using testing::SizeIs;

TEST(ExplainTest, SaysWhyEachClassWaits) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  site.jobs(1, 1);
  site.jobs(1, 16);
  Plan plan = site.plan();
  ASSERT_THAT(plan.waiting, SizeIs(2));
  EXPECT_EQ(plan.waiting[0].code, "host_coming");
  EXPECT_EQ(plan.waiting[1].code, "no_offering");
  EXPECT_EQ(plan.waiting[1].reason, "small: 2 of 16 vcpus");
  ASSERT_THAT(plan.rejected, SizeIs(1));
  EXPECT_EQ(plan.rejected[0].reason, "2 of 16 vcpus");

  site.snapshot.offerings[small].shut = "quota of group standard";
  plan = site.plan();
  EXPECT_EQ(plan.waiting[0].code, "gate_shut");
  EXPECT_EQ(plan.waiting[0].reason, "small: quota of group standard");
}

TEST(ExplainTest, ItsMemoryIsBounded) {
  Site site;
  for (int i = 0; i < 200; ++i) site.type("t" + std::to_string(i), 1, 1, 100 + i);
  for (int i = 0; i < 1000; ++i) site.jobs(1, 2, 1, 1000 - i);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.waiting, SizeIs(1000));
  EXPECT_LE(plan.rejected.size(), 1024U);
}

}  // namespace
}  // namespace hostler::scheduler

#include "core/scheduler/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using testing::Contains;
using testing::Field;
using testing::SizeIs;

TEST(ExplainTest, SaysWhyEachClassWaits) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  site.jobs(1, 1);
  site.jobs(1, 16);
  Plan plan = site.plan();
  ASSERT_THAT(plan.waiting, SizeIs(2));
  EXPECT_EQ(plan.waiting[0].code, model::WaitingCode::kHostComing);
  EXPECT_EQ(plan.waiting[1].code, model::WaitingCode::kNoOffering);
  EXPECT_EQ(plan.waiting[1].reason, "small: 2 of 16 vcpus");
  ASSERT_THAT(plan.rejected, SizeIs(1));
  EXPECT_EQ(plan.rejected[0].reason, "2 of 16 vcpus");

  site.snapshot.offerings[small].shut = "quota of group standard";
  plan = site.plan();
  EXPECT_EQ(plan.waiting[0].code, model::WaitingCode::kGateShut);
  EXPECT_EQ(plan.waiting[0].reason, "small: quota of group standard");
}

TEST(ExplainTest, SaysWhichCheaperOffersACreatePassedOverAndWhy) {
  Site site;
  for (const int vcpus : {1, 4}) site.type("t" + std::to_string(vcpus), vcpus, 4, vcpus);
  site.type("shut", 8, 4, 5);
  site.snapshot.offerings.back().shut = "no capacity";
  site.type("large", 8, 4, 6);
  site.jobs(1, 3);
  Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].passed_over, "t1: 1 of 3 vcpus");

  site.jobs(1, 8, 1, 7);
  plan = site.plan();
  EXPECT_THAT(plan.creates,
              Contains(Field(&Create::passed_over,
                             "t1: 1 of 8 vcpus; t4: 4 of 8 vcpus; shut: no capacity")));
}

// Bug: a type that was only dearer per job was said to be over the price factor, as if for one job.
TEST(ExplainTest, WhatAsManyJobsCouldShareIsNotCalledTooDear) {
  Site site;
  site.type("t1", 1, 8, 100);
  site.type("mid", 4, 8, 350);
  const auto large = site.type("large", 8, 8, 600);
  site.jobs(8, 1);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].offering, large);
  EXPECT_EQ(plan.creates[0].passed_over, "");
}

TEST(ExplainTest, ATypeIsTooDearOnlyForFewerThanItWouldBeBoughtFor) {
  Site site;
  site.type("small", 2, 8, 100);
  const auto large = site.type("large", 8, 8, 350);
  for (Offering& o : site.snapshot.offerings) o.shut = "no capacity";
  const auto says = [&](std::uint64_t jobs) {
    site.snapshot.classes.clear();
    site.jobs(jobs, 2);
    const Plan plan = site.plan();
    std::string out;
    for (const auto& r : plan.rejected)
      if (r.offering == large) out = r.reason;
    return out;
  };
  const std::string dear = "price 0.0003 is over price_factor_max times the cheapest fit";
  EXPECT_EQ(says(1), dear);
  site.pool().price_factor_max = 1.5;
  EXPECT_EQ(says(2), dear + ", for the 2 jobs that would share it");
  EXPECT_EQ(says(8), "no capacity");
}

// Bug: jobs of a type that a reload removed waited for ever, and nothing said for what.
TEST(ExplainTest, SaysThatAJobsTypeIsNoLongerThere) {
  Site site;
  site.type("large", 8, 8, 350);
  site.jobs(1, 2);
  site.snapshot.classes[0].shape.constraints.types = {"small"};
  EXPECT_EQ(site.plan().waiting.at(0).reason,
            "large: not the job's type: this site has no small any more");
  site.snapshot.classes[0].shape.constraints.types = {"large"};
  site.snapshot.classes[0].shape.constraints.zone = "a";
  EXPECT_EQ(site.plan().waiting.at(0).reason, "large: not what the job's constraints allow");
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

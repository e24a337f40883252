#include <gtest/gtest.h>

#include "core/scheduler/fit.h"
#include "core/scheduler/lacks.h"
#include "tests/unit/scheduler/world_builder.h"

/// Work that needs parts of a vcpu, or nothing at all.
namespace hostler::scheduler {
namespace {

constexpr model::Vcpus kQuarter = model::Vcpus::of_thousandths(250);

std::uint64_t items_of(const Create& create) {
  std::uint64_t out = 0;
  for (const demand::Load& load : create.load) out += load.count;
  return out;
}

TEST(PartsOfVcpusTest, EightQuartersFitOnTwoVcpus) {
  Site site;
  site.type("small", 2, 64, 100);
  (void)site.jobs(8, kQuarter);

  EXPECT_EQ(bought(site.plan()).size(), 1U);
  (void)site.jobs(1, kQuarter);
  EXPECT_EQ(bought(site.plan()).size(), 2U);
}

TEST(PartsOfVcpusTest, APartIsPlacedWhereAPartIsLeft) {
  Site site;
  const auto small = site.type("small", 2, 64, 100);
  HostView& host = site.host(1, small);
  site.occupy(host,
              {.vcpus = model::Vcpus::of_thousandths(1750), .gpus = 0, .ram = 0, .scratch = 0});
  const demand::ClassId quarters = site.jobs(2, kQuarter);

  const Plan plan = site.plan();

  EXPECT_EQ(placed(plan, quarters), 1U);
  EXPECT_EQ(bought(plan).size(), 1U);
}

TEST(PartsOfVcpusTest, ReasonsNameThePart) {
  Offering offering;
  offering.resources.vcpus = 1;
  EXPECT_EQ(lacks({.vcpus = model::Vcpus::of_thousandths(1250), .gpus = 0, .ram = 0, .scratch = 0},
                  {}, offering),
            "1 of 1.25 vcpus");
}

TEST(PartsOfVcpusTest, WhatNeedsNothingFitsWithoutEndWhereThereIsRoom) {
  EXPECT_EQ(fit_count(model::Resources{}, {.vcpus = 1, .gpus = 0, .ram = 1, .scratch = 0}),
            std::uint64_t{INT32_MAX});
  EXPECT_EQ(fit_count(model::Resources{}, {.vcpus = 1, .gpus = 0, .ram = -1, .scratch = 0}), 0U);
  EXPECT_EQ(fit_count({.vcpus = model::Vcpus::of_thousandths(1), .gpus = 0, .ram = 0, .scratch = 0},
                      {.vcpus = 2, .gpus = 0, .ram = 0, .scratch = 0}),
            2000U);
}

TEST(PartsOfVcpusTest, JobsThatNeedNothingShareHostsUpToTheLimitOfTheType) {
  Site site;
  site.type("small", 2, 4, 100);
  site.policy.types[0].jobs_max = 10;
  (void)site.jobs(25, {}, 0);

  const Plan plan = site.plan();

  ASSERT_EQ(plan.creates.size(), 3U);
  std::uint64_t items = 0;
  for (const Create& create : plan.creates) {
    EXPECT_LE(items_of(create), 10U);
    items += items_of(create);
  }
  EXPECT_EQ(items, 25U);
}

TEST(PartsOfVcpusTest, ThereIsALimitWithoutOne) {
  Site site;
  site.type("small", 1, 4, 100);
  (void)site.jobs(10'000, {}, 0);

  const Plan plan = site.plan();

  ASSERT_EQ(plan.creates.size(), 3U);
  for (const Create& create : plan.creates)
    EXPECT_LE(items_of(create), static_cast<std::uint64_t>(model::kJobsOnHostMax));
}

TEST(PartsOfVcpusTest, JobsThatNeedNothingGoWithOthersOnTheSameHost) {
  Site site;
  site.type("large", 8, 32, 400);
  (void)site.jobs(8, 1);
  (void)site.jobs(500, {}, 0);

  const Plan plan = site.plan();

  ASSERT_EQ(plan.creates.size(), 1U);
  EXPECT_EQ(items_of(plan.creates[0]), 508U);
}

TEST(PartsOfVcpusTest, AReadyHostTakesJobsThatNeedNothingUpToItsLimitAtOnce) {
  Site site;
  const auto small = site.type("small", 1, 4, 100);
  site.host(1, small).attempts_left = 4'000;
  const demand::ClassId nothing = site.jobs(5'000, {}, 0);

  EXPECT_EQ(placed_on(site.plan(), 1), 4'000U);
  EXPECT_EQ(placed(site.plan(), nothing), 4'000U);
}

TEST(PartsOfVcpusTest, TheNoteOfRamIsToldOnlyWhereRamIsLacking) {
  Offering offering;
  offering.resources = {.vcpus = 2, .gpus = 0, .ram = 7 * kGiB, .scratch = 0};
  offering.note = "its hosts report less";
  EXPECT_EQ(lacks({.vcpus = 1, .gpus = 0, .ram = 8 * kGiB, .scratch = 0}, {}, offering),
            "7 GiB of 8 GiB ram, its hosts report less");
  EXPECT_EQ(lacks({.vcpus = 4, .gpus = 0, .ram = kGiB, .scratch = 0}, {}, offering),
            "2 of 4 vcpus");
}

}  // namespace
}  // namespace hostler::scheduler

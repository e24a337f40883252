#include "core/pushed/demand.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace hostler::pushed {
namespace {

using Sizes = std::vector<std::int32_t>;

/// A task of each of these slots, of no group.
model::Push tasks_of(std::initializer_list<std::int32_t> slots) {
  model::Push out{.session = "s",
                  .sequence = 1,
                  .seen = 0,
                  .agents = {},
                  .tasks = {},
                  .desired_new = {},
                  .group_max = {}};
  for (const auto one : slots)
    out.tasks.push_back({"t" + std::to_string(out.tasks.size()), one, ""});
  return out;
}

Demand demand(const model::Push& push, const Sizes& sizes, std::int32_t aux_per_agent = 100) {
  model::PushedPolicy policy;
  policy.aux_per_agent = aux_per_agent;
  return demand_of(push, sizes, "gpu", policy);
}

/// Whole hosts that a pool with one size asks for.
std::uint64_t hosts(const Demand& of) {
  std::uint64_t out = 0;
  for (const auto& one : of.classes) {
    EXPECT_TRUE(one.shape.exclusive);
    out += one.count;
  }
  return out;
}

struct OneSize {
  const char* rule;
  std::vector<std::int32_t> tasks;
  std::int32_t size;
  std::int32_t aux_per_agent;
  std::uint64_t hosts;
};

class OneSizeTest : public testing::TestWithParam<OneSize> {};

TEST_P(OneSizeTest, AsksForTheNumberOfDeterminedsRule) {
  const OneSize& row = GetParam();
  auto push = tasks_of({});
  for (const auto slots : row.tasks)
    push.tasks.push_back({"t" + std::to_string(push.tasks.size()), slots, ""});
  EXPECT_EQ(hosts(demand(push, {row.size}, row.aux_per_agent)), row.hosts) << row.rule;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, OneSizeTest,
    testing::Values(OneSize{"no task asks for nothing", {}, 8, 100, 0},
                    OneSize{"slots are added up and rounded up", {3, 3, 3}, 4, 100, 3},
                    OneSize{"fragments are not looked at", {3, 3, 2}, 4, 100, 2},
                    OneSize{"a task of all slots is one host", {8}, 8, 100, 1},
                    OneSize{"a multiple is several hosts", {16, 8}, 8, 100, 3},
                    OneSize{"a size between two multiples counts for nothing", {12}, 8, 100, 0},
                    OneSize{"it does not keep others from counting", {12, 4}, 8, 100, 1},
                    OneSize{"tasks without slots by aux_per_agent", {0, 0, 0}, 8, 2, 2},
                    OneSize{"exactly full agents", {0, 0, 0, 0}, 8, 2, 2},
                    OneSize{"the larger term counts", {0, 0, 0, 8}, 8, 1, 3},
                    OneSize{"the larger term counts, slots", {0, 8, 8}, 8, 100, 2},
                    OneSize{"aux_per_agent 0: they count for nothing", {0, 0}, 8, 0, 0},
                    OneSize{"a type without slots: slots count for nothing", {1, 4}, 0, 100, 0},
                    OneSize{"a type without slots: others count", {1, 0}, 0, 100, 1}));

TEST(DemandTest, AGroupAsksForNoMoreThanItsMaximum) {
  auto push = tasks_of({});
  push.tasks = {{"a", 4, "g"}, {"b", 4, "g"}, {"c", 4, "free"}};
  push.group_max = {{"g", 5}};
  const Demand of = demand(push, {4});
  EXPECT_EQ(of.slots, 9);
  EXPECT_EQ(hosts(of), 3U);
  push.group_max = {{"g", 0}};
  EXPECT_EQ(hosts(demand(push, {4})), 1U);
}

TEST(DemandTest, TellsWhatATaskCouldAskForThatNeverFits) {  // Weakness 5.3.10.
  const Demand of = demand(tasks_of({12, 8}), {8});
  ASSERT_EQ(of.never_fits.size(), 1U);
  EXPECT_EQ(of.never_fits[0].id, "t0");
  EXPECT_EQ(of.never_fits[0].slots_that_would_do, (std::vector<std::int64_t>{8, 16}));
  EXPECT_EQ(of.tasks, 1U);
}

TEST(DemandTest, WhatDeterminedCanFulfillFits) {  // 1.11, and multiples by 1.12.
  for (const std::int64_t slots : {0, 1, 7, 8, 16, 800})
    EXPECT_EQ(slots_that_would_do(slots, Sizes{8}), std::vector{slots}) << slots;
  for (const std::int64_t slots : {9, 12, 15})
    EXPECT_EQ(slots_that_would_do(slots, Sizes{8}), (std::vector<std::int64_t>{8, 16})) << slots;
  EXPECT_EQ(slots_that_would_do(17, Sizes{8}), (std::vector<std::int64_t>{16, 24}));
}

TEST(DemandTest, NamesTheNearestSizesOfAllTypes) {
  EXPECT_EQ(slots_that_would_do(13, Sizes{4, 6}), (std::vector<std::int64_t>{12, 16}));
  EXPECT_EQ(slots_that_would_do(17, Sizes{4, 6}), (std::vector<std::int64_t>{16, 18}));
  EXPECT_EQ(slots_that_would_do(3, Sizes{4}), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(slots_that_would_do(9, Sizes{0, 8}), (std::vector<std::int64_t>{8, 16}));
  EXPECT_EQ(slots_that_would_do(0, Sizes{0}), std::vector<std::int64_t>{0});
  EXPECT_TRUE(slots_that_would_do(3, Sizes{0}).empty());
  EXPECT_TRUE(slots_that_would_do(3, Sizes{}).empty());
}

TEST(DemandTest, PacksTheTasksWhereTypesHaveSeveralSizes) {
  const Demand of = demand(tasks_of({3, 3, 2}), {4, 8});
  ASSERT_EQ(of.classes.size(), 2U);
  EXPECT_EQ(of.classes[0].shape.needs.slots, 3);
  EXPECT_EQ(of.classes[0].count, 2U);
  EXPECT_FALSE(of.classes[0].shape.exclusive);
  EXPECT_EQ(of.classes[1].shape.needs.slots, 2);
  EXPECT_EQ(of.classes[0].shape.constraints.pools, std::vector<std::string>{"gpu"});
}

TEST(DemandTest, ATaskWiderThanTheLargestTypeTakesWholeHosts) {
  const Demand of = demand(tasks_of({24, 12}), {4, 8});
  ASSERT_EQ(of.classes.size(), 2U);
  EXPECT_TRUE(of.classes[0].shape.exclusive);
  EXPECT_EQ(std::pair(of.classes[0].shape.needs.slots, of.classes[0].count), std::pair(8, 3UL));
  EXPECT_EQ(std::pair(of.classes[1].shape.needs.slots, of.classes[1].count), std::pair(4, 3UL));
}

TEST(DemandTest, HostsForSlotsRunTasksWithoutSlotsToo) {
  const Demand few = demand(tasks_of({0, 8, 8}), {4, 8}, 1);
  ASSERT_EQ(few.classes.size(), 1U);
  const Demand many = demand(tasks_of({0, 0, 0, 8}), {4, 8}, 1);
  ASSERT_EQ(many.classes.size(), 2U);
  EXPECT_EQ(many.classes[1].shape.needs.slots, 0);
  EXPECT_EQ(many.classes[1].count, 2U);
}

TEST(DemandTest, AGroupsMaximumStartsNoPartOfATask) {
  auto push = tasks_of({});
  push.tasks = {{"a", 4, "g"}, {"b", 4, "g"}};
  push.group_max = {{"g", 5}};
  const Demand of = demand(push, {4, 8});
  ASSERT_EQ(of.classes.size(), 1U);
  EXPECT_EQ(of.classes[0].count, 1U);
}

TEST(DemandTest, AGroupsRestIsForALaterTaskThatFitsInIt) {
  auto push = tasks_of({});
  push.tasks = {{"a", 4, "g"}, {"b", 4, "g"}, {"c", 1, "g"}};
  push.group_max = {{"g", 5}};
  const Demand of = demand(push, {4, 8});
  ASSERT_EQ(of.classes.size(), 2U);
  EXPECT_EQ(of.classes[1].shape.needs.slots, 1);
  EXPECT_EQ(of.slots, 5);
  EXPECT_EQ(of.tasks, 3U);
}

TEST(DemandTest, ATaskThatItsGroupHoldsBackBringsNoHostForTasksWithoutSlots) {
  auto push = tasks_of({0});
  push.tasks.push_back({"held", 8, "g"});
  push.group_max = {{"g", 4}};
  const Demand of = demand(push, {4, 8});
  ASSERT_EQ(of.classes.size(), 1U);
  EXPECT_EQ(of.classes[0].shape.needs.slots, 0);
  EXPECT_EQ(of.slots, 0);
}

TEST(DemandTest, TasksWithoutSlotsHaveNoMaximumOfTheirGroup) {
  auto push = tasks_of({});
  push.tasks = {{"a", 0, "g"}, {"b", 0, "g"}};
  push.group_max = {{"g", 0}};
  EXPECT_EQ(hosts(demand(push, {4}, 1)), 2U);
}

TEST(DemandTest, WideTasksOfManySizesAreFewClasses) {
  auto push = tasks_of({});
  for (std::int32_t slots = 3; slots <= 1000; ++slots)
    push.tasks.push_back({std::to_string(slots), slots, ""});
  const Demand of = demand(push, {1, 2});
  ASSERT_EQ(of.classes.size(), 2U);
  EXPECT_EQ(of.classes[0].count, 125'250U - 1U);  // The even ones: 4 / 2 to 1000 / 2.
  EXPECT_EQ(of.classes[1].count, 249'999U);       // The odd ones: 3 to 999.
}

TEST(DemandTest, TooManySizesAreRoundedUpButNotBeyondAHost) {
  auto push = tasks_of({});
  for (std::int32_t slots = 1; slots <= 1001; ++slots)
    push.tasks.push_back({std::to_string(slots), slots, ""});
  const Demand of = demand(push, {4, 1001});
  EXPECT_LE(of.classes.size(), static_cast<std::size_t>(kTaskSizesMax));
  EXPECT_EQ(of.classes.front().shape.needs.slots, 1001);
  std::uint64_t tasks = 0;
  std::int64_t slots = 0;
  for (const auto& one : of.classes) {
    tasks += one.count;
    slots += one.shape.needs.slots * static_cast<std::int64_t>(one.count);
  }
  EXPECT_EQ(tasks, 1001U);
  EXPECT_GE(slots, of.slots);
  EXPECT_LE(slots, of.slots + 1001 * 4);
}

// A plan looks at each item of a class.
TEST(DemandTest, TheLargestNumbersAskForMuchButForNoBillionHosts) {
  auto push = tasks_of({});
  push.tasks.assign(1000, {"t", model::kSlotsMax, "g"});
  push.group_max = {{"g", INT64_MAX}};
  EXPECT_EQ(hosts(demand(push, {1})), kTaskItemsMax);
  EXPECT_EQ(hosts(demand(push, {1, 2})), kTaskItemsMax);
  push.tasks.clear();
  push.desired_new = INT64_MAX;
  EXPECT_EQ(demand(push, {1}).classes.at(0).count, kTaskItemsMax);
}

TEST(DemandTest, DesiredNewAsksForSoManyWholeHostsOfAnySize) {
  auto push = tasks_of({});
  push.desired_new = 3;
  const Demand of = demand(push, {4, 8});
  ASSERT_EQ(of.classes.size(), 1U);
  EXPECT_EQ(of.classes[0].shape.needs.slots, 0);
  EXPECT_TRUE(of.classes[0].shape.exclusive);
  EXPECT_EQ(of.classes[0].count, 3U);
  push.desired_new = 0;
  EXPECT_TRUE(demand(push, {4, 8}).classes.empty());
}

}  // namespace
}  // namespace hostler::pushed

#include "core/pricing/bill.h"

#include <gtest/gtest.h>

#include "tests/unit/pricing/hours.h"

namespace hostler::pricing {
namespace {

using model::Micros;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

constexpr Wall kToday{6 * kHour};

/// Eight vcpus at 100 an hour of its own, from the second hour on.
model::InstanceRecord instance(std::uint64_t id = 1) {
  model::InstanceRecord out;
  out.id = {id};
  out.set = "west";
  out.type = "small";
  out.zone = "z1";
  out.provider_id = "i-1";
  out.price_per_hour = {100};
  out.total = {.vcpus = 8, .gpus = 0, .ram = 32 * kGiB, .scratch = 0};
  out.created = hour(2);
  out.state = model::InstanceState::kIdle;
  return out;
}

TEST(BillTest, AnInstanceCostsWhatItsCloudSaidElseItsOwnPrice) {
  const auto one = instance();
  const Bill by_cloud(hour(0), hour(6), kToday, {seen(4, 300), seen(0, 10)});
  EXPECT_EQ(by_cloud.of(one).cost, Micros{2 * 10 + 2 * 300});
  EXPECT_EQ(by_cloud.of(one).used_us, 4 * kHour);
  EXPECT_EQ(Bill(hour(0), hour(6), kToday, {seen(0, 10, "z2")}).of(one).cost, Micros{400});
  EXPECT_EQ(Bill(hour(0), hour(6), kToday, {seen(0, 10, "")}).of(one).cost, Micros{40})
      << "a price without a zone is every zone's";
}

TEST(BillTest, CoversOnlyWhatLiesWithinIt) {
  auto gone = instance();
  gone.gone = hour(5);
  EXPECT_EQ(Bill(hour(3), hour(4), kToday, {}).of(gone).cost, Micros{100});
  EXPECT_EQ(Bill(hour(0), hour(9), kToday, {}).of(gone).cost, Micros{300});
  for (const auto& [since, until] : {std::pair{0, 2}, {5, 9}}) {
    Bill bill(hour(since), hour(until), kToday, {});
    bill.add(gone);
    EXPECT_TRUE(bill.instances().empty()) << since;
  }
}

TEST(BillTest, WhatTheCloudNeverShowedCostsNothing) {
  Bill bill(hour(0), hour(9), kToday, {});
  auto refused = instance();
  refused.provider_id.clear();
  bill.add(refused);
  EXPECT_TRUE(bill.instances().empty());
}

TEST(BillTest, TimeSwitchedOffIsFree) {
  auto one = instance();
  one.off_us = kHour;
  EXPECT_EQ(Bill(hour(0), hour(6), kToday, {}).of(one).cost, Micros{300});
  EXPECT_EQ(Bill(hour(0), hour(6), kToday, {}).of(one).used_us, 3 * kHour);
  EXPECT_EQ(Bill(hour(4), hour(6), kToday, {}).of(one).cost, Micros{150})
      << "half of it, as of its life";
  one.state = model::InstanceState::kStopped;
  one.state_since = hour(5);
  EXPECT_EQ(Bill(hour(0), hour(6), kToday, {}).of(one).cost, Micros{200});
  one.off_us = 100 * kHour;
  EXPECT_EQ(Bill(hour(0), hour(6), kToday, {}).of(one).cost, Micros{0});
}

// Bug: the bill of the past shrank, down to nothing, when the instance was switched off later.
TEST(BillTest, ALaterStopChangesNoBillOfThePast) {
  auto one = instance();
  one.state = model::InstanceState::kStopped;
  one.state_since = hour(12);
  for (const std::int64_t now : {12, 22, 1000}) {
    EXPECT_EQ(Bill(hour(2), hour(12), hour(now), {}).of(one).cost, Micros{1000}) << now;
    EXPECT_EQ(Bill(hour(12), hour(22), hour(now), {}).of(one).cost, Micros{0}) << now;
  }
  EXPECT_EQ(Bill(hour(7), hour(17), hour(22), {}).of(one).cost, Micros{500});
  one.off_us = 2 * kHour;
  EXPECT_EQ(Bill(hour(2), hour(12), hour(22), {}).of(one).cost, Micros{800});
  EXPECT_EQ(Bill(hour(7), hour(17), hour(22), {}).of(one).cost, Micros{400});
}

TEST(BillTest, SwitchedOnAgainItsStopsAreSpreadOverItsLifeUntilNow) {
  auto one = instance();
  one.off_us = 10 * kHour;
  EXPECT_EQ(Bill(hour(2), hour(12), hour(22), {}).of(one).cost, Micros{500});
  EXPECT_EQ(Bill(hour(12), hour(22), hour(22), {}).of(one).cost, Micros{500});
  one.gone = hour(22);
  EXPECT_EQ(Bill(hour(2), hour(12), hour(1000), {}).of(one).cost, Micros{500});
}

TEST(BillTest, WhatIsToComeCostsNothingYet) {
  EXPECT_EQ(Bill(hour(0), hour(100), hour(6), {}).of(instance()).cost, Micros{400});
}

TEST(BillTest, AJobPaysItsLargestShareWhileItRan) {
  Bill bill(hour(0), hour(6), kToday, {});
  bill.add(instance());
  const model::Resources two{.vcpus = 2, .gpus = 0, .ram = 4 * kGiB, .scratch = 0};
  const model::Resources half{.vcpus = 1, .gpus = 0, .ram = 16 * kGiB, .scratch = 0};
  EXPECT_EQ(bill.of({1}, two, hour(3), hour(5)).cost, Micros{50});
  EXPECT_EQ(bill.of({1}, half, hour(3), hour(5)).cost, Micros{100});
  EXPECT_EQ(bill.of({1}, half, hour(3), hour(5)).used_us, 2 * kHour);
  EXPECT_EQ(bill.of({1}, half, hour(5), Wall{}).cost, Micros{50}) << "it runs";
  EXPECT_EQ(bill.of({1}, half, hour(7), hour(8)).cost, Micros{0});
  EXPECT_EQ(bill.of({9}, half, hour(3), hour(5)).cost, Micros{0}) << "not on the bill";
}

// Bug: a job that needs nothing cost nothing, though `jobs_max` gave it a whole host.
TEST(BillTest, AJobThatNeedsNothingPaysForItsPlaceOnTheHost) {
  auto few = instance();
  few.jobs_max = 2;
  Bill bill(hour(0), hour(6), kToday, {});
  bill.add(few);
  EXPECT_EQ(bill.of({1}, {}, hour(3), hour(5)).cost, Micros{100});
}

TEST(BillTest, AShareIsNeverMoreThanTheWhole) {
  const model::Resources host{.vcpus = 8, .gpus = 0, .ram = 32 * kGiB, .scratch = 0};
  EXPECT_EQ(part_of({800}, {.vcpus = 99, .gpus = 0, .ram = 0, .scratch = 0}, host, 4000),
            Micros{800});
  EXPECT_EQ(part_of({800}, {.vcpus = 1, .gpus = 0, .ram = 0, .scratch = 0}, {}, 4000), Micros{800})
      << "what it had is not known";
}

TEST(BillTest, NeitherLongTimesNorHighPricesOverflow) {
  auto dear = instance();
  dear.price_per_hour = {std::int64_t{1} << 60};
  EXPECT_GT(Bill(hour(0), hour(1'000'000), hour(1'000'000), {}).of(dear).cost.value, 0);
  EXPECT_EQ(part_of({INT64_MAX}, {.vcpus = 1, .gpus = 0, .ram = 0, .scratch = 0},
                    {.vcpus = 2, .gpus = 0, .ram = 2, .scratch = 0}, 4000),
            Micros{INT64_MAX / 2});
}

// Bug: two dear instances made a negative total.
TEST(MoneyTest, SumsSaturate) {
  model::Micros sum{INT64_MAX - 1};
  sum += {5};
  EXPECT_EQ(sum, model::Micros{INT64_MAX});
  EXPECT_EQ((model::Micros{3} + model::Micros{4}), model::Micros{7});
}

}  // namespace
}  // namespace hostler::pricing

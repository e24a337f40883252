#include "core/model/vcpus.h"

#include <gtest/gtest.h>

#include "core/model/policy.h"

namespace hostler::model {
namespace {

TEST(VcpusTest, TextIsExactAndReadBack) {
  for (const auto& [text, thousandths] : {std::pair("0", 0),
                                          {"0.001", 1},
                                          {"0.25", 250},
                                          {"1.5", 1500},
                                          {"2", 2000},
                                          {"1048576", 1'048'576'000},
                                          {"10.01", 10'010}}) {
    const auto read = parse_vcpus(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->thousandths(), thousandths) << text;
    EXPECT_EQ(to_string(*read), text);
  }
  EXPECT_EQ(parse_vcpus("0.250")->thousandths(), 250);
  EXPECT_EQ(to_string(Vcpus::of_thousandths(-1500)), "-1.5");
}

TEST(VcpusTest, RefusesWhatIsNoAmountAndSaysWhatIsAllowed) {
  for (const char* text : {"", ".", "1.", ".5", "-1", "+1", "1e3", "0.0005", "1.2345",
                           "1048576.001", "9999999999", "nan", "inf", "1 ", "0x1", "1,5"})
    EXPECT_FALSE(parse_vcpus(text)) << text;
  EXPECT_EQ(parse_vcpus("0.0005").error().message,
            "'0.0005' is no number of vcpus, allowed: 0 to 1048576 with at most three decimals, "
            "such as 2 or 0.25");
}

TEST(VcpusTest, APlainNumberStandsForWholeVcpus) {
  const Vcpus two = 2;
  EXPECT_EQ(two.thousandths(), 2000);
  EXPECT_EQ((two - Vcpus::of_thousandths(1)).whole(), 1);
  EXPECT_LT(Vcpus::of_thousandths(1999), two);
  EXPECT_EQ(Vcpus::of_thousandths(250) * 8, two);
}

TEST(ReserveTest, IsNeverLeftToJobs) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  EXPECT_EQ(ram_for_jobs(4 * kGiB, {}), 4 * kGiB);
  EXPECT_EQ(ram_for_jobs(4 * kGiB, {.bytes = kGiB, .share = 0}), 3 * kGiB);
  EXPECT_EQ(ram_for_jobs(4 * kGiB, {.bytes = 0, .share = 25'00}), 3 * kGiB);
  EXPECT_EQ(ram_for_jobs(3, {.bytes = 0, .share = 5'00}), 2) << "a part of a byte is a byte";
  EXPECT_EQ(ram_for_jobs(kGiB, {.bytes = 2 * kGiB, .share = 0}), 0);
  EXPECT_EQ(ram_for_jobs(std::int64_t{1} << 50, {.bytes = 0, .share = 90'00}),
            (std::int64_t{1} << 50) - ((std::int64_t{1} << 50) / 10 * 9 + 4));
}

TEST(JobsMaxTest, TheLowerLimitHoldsAndThereIsAlwaysOne) {
  PoolPolicy pool;
  InstanceType type;
  EXPECT_EQ(jobs_max_of(pool, type), kJobsOnHostMax);
  type.jobs_max = 10;
  EXPECT_EQ(jobs_max_of(pool, type), 10);
  pool.attempts_parallel_max = 3;
  EXPECT_EQ(jobs_max_of(pool, type), 3);
  pool.uses_max = 2;
  EXPECT_EQ(jobs_max_of(pool, type), 2);
  pool.uses_max = 0;
  type.jobs_max = 0;
  pool.attempts_parallel_max = 100'000;
  EXPECT_EQ(jobs_max_of(pool, type), kJobsOnHostMax);
}

}  // namespace
}  // namespace hostler::model

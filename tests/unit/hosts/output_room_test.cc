#include "core/hosts/output_room.h"

#include <gtest/gtest.h>

namespace hostler::hosts {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

model::AttemptId attempt(std::uint64_t job) { return {model::WorkId{job}, 1}; }

/// A disk of 64 MiB.
class OutputRoomTest : public testing::Test {
 protected:
  std::uint64_t free_ = 40 * kMiB;
  OutputRoom room_{[this] { return DiskRoom{free_, 64 * kMiB}; }};
};

TEST_F(OutputRoomTest, PromisesNoMoreThanThereIs) {
  EXPECT_TRUE(room_.admit(attempt(1), 16 * kMiB));
  EXPECT_TRUE(room_.admit(attempt(2), 16 * kMiB));
  EXPECT_FALSE(room_.admit(attempt(3), 16 * kMiB));
  EXPECT_TRUE(room_.admit(attempt(4), 8 * kMiB)) << "it fits beside them";
}

TEST_F(OutputRoomTest, WhatHasBegunGoesOnWhileOthersFillTheDisk) {
  EXPECT_TRUE(room_.admit(attempt(1), 16 * kMiB));
  free_ = kMiB;
  EXPECT_TRUE(room_.admit(attempt(1), 15 * kMiB));
  EXPECT_FALSE(room_.admit(attempt(2), 1)) << "what there is is promised";
  EXPECT_FALSE(room_.admit(attempt(1), 30 * kMiB)) << "its files came on top";
  EXPECT_TRUE(room_.admit(attempt(2), 1)) << "nothing is promised any more";
}

TEST_F(OutputRoomTest, TheNextOneComesWhenOneHasEnded) {
  EXPECT_TRUE(room_.admit(attempt(1), 30 * kMiB));
  EXPECT_FALSE(room_.admit(attempt(2), 30 * kMiB));
  room_.release(attempt(1));
  room_.release(attempt(1));
  EXPECT_TRUE(room_.admit(attempt(2), 30 * kMiB));
}

TEST_F(OutputRoomTest, RunningJobsLeaveHalfOfASmallDiskToThoseThatHaveEnded) {
  EXPECT_TRUE(room_.has_room_to_stream());
  EXPECT_TRUE(room_.admit(attempt(1), 8 * kMiB));
  EXPECT_FALSE(room_.has_room_to_stream()) << "32 of 64 MiB are left to them";
  room_.release(attempt(1));
  free_ = 32 * kMiB;
  EXPECT_FALSE(room_.has_room_to_stream());
}

TEST(LargeOutputRoomTest, OnALargeDiskTheyLeaveAQuarterOfAGibibyte) {
  std::uint64_t free = 257 * kMiB;
  const OutputRoom room([&free] { return DiskRoom{free, std::uint64_t{1} << 40U}; });
  EXPECT_TRUE(room.has_room_to_stream());
  free = 256 * kMiB;
  EXPECT_FALSE(room.has_room_to_stream());
  EXPECT_FALSE(room.is_full());
  free = 0;
  EXPECT_TRUE(room.is_full());
}

}  // namespace
}  // namespace hostler::hosts

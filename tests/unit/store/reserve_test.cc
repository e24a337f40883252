#include "core/store/files/reserve.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "tests/temp_folder.h"

namespace hostler::store {
namespace {

constexpr std::uint64_t kSize = 1 << 20;
/// No disk has room for it.
constexpr std::uint64_t kTooLarge = std::uint64_t{1} << 60U;

class ReserveTest : public testing::Test {
 protected:
  std::unique_ptr<Reserve> open(std::uint64_t bytes) {
    auto reserve = Reserve::open(file_, bytes, [this](bool low) { told_.push_back(low); });
    EXPECT_TRUE(reserve) << reserve.error().message;
    return std::move(*reserve);
  }

  test::TempFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "reserve";
  std::vector<bool> told_;
};

TEST_F(ReserveTest, TakesItsSpaceAndChangesWithItsSize) {
  EXPECT_FALSE(open(kSize)->is_low());
  EXPECT_EQ(std::filesystem::file_size(file_), kSize);
  EXPECT_FALSE(open(2 * kSize)->is_low());
  EXPECT_EQ(std::filesystem::file_size(file_), 2 * kSize);
  EXPECT_FALSE(open(0)->is_low());
  EXPECT_EQ(std::filesystem::file_size(file_), 0);
  EXPECT_TRUE(told_.empty());
}

TEST_F(ReserveTest, IsKeptIfAWriteFailsThoughTheDiskHasRoom) {
  const auto reserve = open(kSize);
  EXPECT_FALSE(reserve->release());
  reserve->check();
  EXPECT_FALSE(reserve->is_low());
  EXPECT_EQ(std::filesystem::file_size(file_), kSize);
}

TEST_F(ReserveTest, IsLowWhileTheDiskHasNoRoomForIt) {
  const auto reserve = open(kTooLarge);
  EXPECT_TRUE(reserve->is_low());
  EXPECT_EQ(told_, std::vector{true});
  EXPECT_FALSE(reserve->refill());
  EXPECT_TRUE(reserve->is_low());
  EXPECT_EQ(std::filesystem::file_size(file_), 0) << "nothing is taken in part";
  EXPECT_FALSE(reserve->release()) << "there is nothing to give up";
  EXPECT_EQ(told_, std::vector{true}) << "it is told once";
}

TEST_F(ReserveTest, OutputHasNoRoomWhileItIsLow) {
  EXPECT_EQ(open(kTooLarge)->room().free, 0U);
  const auto room = open(kSize)->room();
  EXPECT_GT(room.free, 0U);
  EXPECT_GT(room.total, room.free + kSize);
}

TEST_F(ReserveTest, WithoutASizeItIsNeverLow) {
  const auto reserve = open(0);
  EXPECT_FALSE(reserve->release());
  reserve->check();
  EXPECT_FALSE(reserve->is_low());
  EXPECT_TRUE(reserve->refill());
}

TEST_F(ReserveTest, UsuallyTakesATenthOfTheDiskAndAGibibyteAtMost) {
  const auto usual = Reserve::usual_bytes(folder_.path());
  ASSERT_TRUE(usual);
  const auto disk = std::filesystem::space(folder_.path()).capacity;
  EXPECT_EQ(*usual, std::min<std::uint64_t>(disk / 10, 1 << 30));
  EXPECT_FALSE(Reserve::usual_bytes(folder_.path() / "none"));
}

}  // namespace
}  // namespace hostler::store

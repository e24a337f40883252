#include <gtest/gtest.h>

#include <filesystem>

#include "core/agent/host/system/scratch.h"
#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace hostler::agent {
namespace {

/// Its working folder is a state folder.
class ScratchTest : public testing::Test {
 protected:
  ScratchTest() { std::filesystem::current_path(folder_.path()); }
  ~ScratchTest() override { std::filesystem::current_path(before_); }

  std::filesystem::path before_ = std::filesystem::current_path();
  test::TempFolder folder_;
};

TEST_F(ScratchTest, IsWhatWasFreeBeforeTheFirstJobAlsoLater) {
  const auto first = scratch_bytes(true, "boot-1");

  ASSERT_TRUE(first);
  EXPECT_GT(*first, 0);
  EXPECT_EQ(scratch_bytes(false, "boot-1"), first);
}

TEST_F(ScratchTest, IsNotKnownWhereAJobRanBeforeItWasMeasured) {
  EXPECT_FALSE(scratch_bytes(false, "boot-1"));
  folder_.put("scratch", "-4 GiB boot-1\n");
  EXPECT_FALSE(scratch_bytes(false, "boot-1"));
}

// An image that was made of a used host has its file.
TEST_F(ScratchTest, OfAnotherBootIsNotBelieved) {
  folder_.put("scratch", "4096 boot-1\n");
  EXPECT_EQ(scratch_bytes(false, "boot-1"), 4096);
  EXPECT_FALSE(scratch_bytes(false, "boot-2"));
  EXPECT_FALSE(scratch_bytes(false, "1"));
  EXPECT_FALSE(scratch_bytes(false, ""));

  const auto measured = scratch_bytes(true, "boot-2");

  ASSERT_TRUE(measured);
  EXPECT_GT(*measured, 4096);
  EXPECT_EQ(scratch_bytes(false, "boot-2"), measured);
}

TEST_F(ScratchTest, OfAFileWithoutABootIsNotBelieved) {
  folder_.put("scratch", "4096\n");
  EXPECT_FALSE(scratch_bytes(false, "boot-1"));
}

TEST_F(ScratchTest, IsAtMostTheSizeOfTheFileSystem) {
  const auto capacity = std::filesystem::space(".").capacity;
  folder_.put("scratch", "1152921504606846976 boot-1\n");

  EXPECT_LE(scratch_bytes(false, "boot-1"), static_cast<std::int64_t>(capacity));
}

}  // namespace
}  // namespace hostler::agent

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
  const auto first = scratch_bytes(true);

  ASSERT_TRUE(first);
  EXPECT_GT(*first, 0);
  EXPECT_EQ(scratch_bytes(false), first);
}

TEST_F(ScratchTest, IsNotKnownWhereAJobRanBeforeItWasMeasured) {
  EXPECT_FALSE(scratch_bytes(false));
  folder_.put("scratch", "-4 GiB\n");
  EXPECT_FALSE(scratch_bytes(false));
}

TEST_F(ScratchTest, IsAtMostTheSizeOfTheFileSystem) {
  const auto capacity = std::filesystem::space(".").capacity;
  folder_.put("scratch", "1152921504606846976\n");

  EXPECT_LE(scratch_bytes(false), static_cast<std::int64_t>(capacity));
}

}  // namespace
}  // namespace hostler::agent

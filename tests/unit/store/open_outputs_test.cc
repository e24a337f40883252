#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/store/files/outputs.h"
#include "tests/temp_folder.h"

/// How many files of output are open at the same time.
namespace hostler::store {
namespace {

/// Files beneath the folder that this process has open.
std::size_t open_beneath(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto file = std::filesystem::read_symlink(entry, gone);
    if (!gone && file.string().starts_with(folder.string())) ++count;
  }
  return count;
}

// Bug: the files of all that waited were open at the same time.
TEST(OpenOutputsTest, NoMoreFilesAreOpenThanTheLimitAllows) {
  const test::TempFolder folder;
  const std::filesystem::path spool = folder / "spool";
  auto outputs = Outputs::open(spool, {.open_max = 3});
  ASSERT_TRUE(outputs) << outputs.error().message;
  constexpr std::uint64_t kStreams = 200;
  std::size_t most = 0;
  std::uint64_t stored = 0;
  for (std::uint64_t n = 1; n <= kStreams; ++n)
    (*outputs)->append({{n}, 1}, kStdoutStream, 0, "hello", [&](Result<std::uint64_t> end) {
      most = std::max(most, open_beneath(spool));  // on the writer's thread
      stored += end == 5U ? 1 : 0;
    });
  outputs->reset();  // writes all
  EXPECT_EQ(stored, kStreams);
  EXPECT_GT(most, 0U);
  EXPECT_LE(most, 6U);
}

}  // namespace
}  // namespace hostler::store

#include "core/agent/host/attempt/outputs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/base/text.h"
#include "tests/temp_folder.h"

namespace hostler::agent {
namespace {

/// A job's folder.
class FindOutputsTest : public testing::Test {
 protected:
  void put(const std::string& path) { folder_.put(path, "x"); }
  std::vector<OutputFile> find(const std::vector<std::string>& patterns) {
    return find_outputs(folder_.path().string(), patterns, 0, 1'000'000);
  }

  test::TempFolder folder_;
};

// Bug: one name that the daemon does not store had it refuse the whole list, and the job waited for
// ever.
TEST_F(FindOutputsTest, ListsEveryNameInAFormThatCanBeStored) {
  for (const char* name : {"plain", "a\nb", "a\tb", "a b", "\xff\xfe"}) put(name);
  std::string deep;
  for (int i = 0; i < 5; ++i) {
    deep += (i > 0 ? "/" : "") + std::string(250, 'd');
    std::filesystem::create_directory(folder_ / deep);
  }
  put(deep + "/file");

  const auto files = find({"**", "/none", "no//ne", ".."});

  std::set<std::string> paths;
  std::size_t taken = 0;
  for (const auto& file : files) {
    EXPECT_TRUE(is_safe_path(file.path)) << printable(file.path);
    EXPECT_TRUE(paths.insert(file.path).second) << file.path << " is there twice";
    taken += file.problem.empty() ? 1 : 0;
  }
  EXPECT_EQ(taken, 2U) << "plain and 'a b'";
  EXPECT_EQ(files.size(), 9U);
}

// Bug: a link anywhere in a tree ended a job that had succeeded as output_lost.
TEST_F(FindOutputsTest, PassesOverLinksUnlessTheyAreNamed) {
  std::filesystem::create_directory(folder_ / "d");
  put("d/file");
  std::filesystem::create_symlink("file", folder_ / "d/link");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);

  for (const auto& patterns : {std::vector<std::string>{"**"}, {"d", "*"}, {"d/*"}}) {
    const auto files = find(patterns);
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].path, "d/file");
    EXPECT_EQ(files[0].problem, "");
  }
  const auto named = find({"**", "d/link", "pipe"});
  ASSERT_EQ(named.size(), 3U);
  EXPECT_EQ(named[1].problem, "it is a symbolic link; links are not followed");
  EXPECT_EQ(named[2].problem, "it is not a regular file");
}

// Bug: likewise, since the entry for what is beyond the limit had no name.
TEST_F(FindOutputsTest, NamesWhatIsBeyondTheLimit) {
  for (std::size_t i = 0; i < kOutputFilesMax + 1; ++i) put("f" + std::to_string(i));

  const auto files = find({"*"});

  ASSERT_EQ(files.size(), kOutputFilesMax);
  EXPECT_TRUE(is_safe_path(files.back().path));
  EXPECT_EQ(files.back().problem, "the job left more than 4095 files");
}

// Bug: many patterns over many files were given up without a word, and the job had succeeded.
TEST_F(FindOutputsTest, NamesWhatItDidNotLookFor) {
  for (const char* name : {"a", "b", "c"}) put(name);

  const auto files = find_outputs(folder_.path().string(), {"*", "c", "d"}, 0, 1'000'000, 5);

  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files[0].path, "'c' and what follows");
  EXPECT_EQ(files[0].problem, "there are more than 5 names to search");
  EXPECT_EQ(find({"*", "c"}).size(), 3U);
}

}  // namespace
}  // namespace hostler::agent

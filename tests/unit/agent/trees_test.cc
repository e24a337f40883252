#include "core/agent/host/system/trees.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace hostler::agent {
namespace {

class TreesTest : public ::testing::Test {
 protected:
  TreesTest() { std::filesystem::create_directory(trash_); }

  test::TempFolder folder_;
  std::filesystem::path trash_ = folder_ / "trash";
};

/// `levels` folders, each in the one before, with a file in each.
void nest(const std::filesystem::path& top, int levels) {
  UniqueFd at(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < levels; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "folder", 0700), 0);
    at.reset(::openat(at.get(), "folder", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const UniqueFd file(::openat(at.get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(file);
  }
}

// Bug: each level of a tree held a descriptor; a tree deeper than their limit was never removed.
TEST_F(TreesTest, ATreeIsRemovedWhateverItsDepth) {
  nest(trash_, 300);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);

  empty_folder(trash_.c_str());

  EXPECT_TRUE(std::filesystem::is_empty(trash_));
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  empty_folder(trash_.c_str());  // what the failed test left
}

TEST_F(TreesTest, NamesThatAnEarlierRemovalLeftAreNoObstacle) {
  nest(trash_, 3);
  std::filesystem::create_directories(trash_ / "up.0/x");
  std::ofstream(trash_ / "up.1") << "a file";

  empty_folder(trash_.c_str());

  EXPECT_TRUE(std::filesystem::is_empty(trash_));
}

TEST_F(TreesTest, LinksAreRemovedNotFollowed) {
  std::filesystem::create_directories(folder_ / "other/kept");
  std::filesystem::create_directory(trash_ / "a");
  std::filesystem::create_directory_symlink(folder_ / "other", trash_ / "a/link");
  std::filesystem::create_directory_symlink(folder_ / "other", trash_ / "link");

  empty_folder(trash_.c_str());

  EXPECT_TRUE(std::filesystem::is_empty(trash_));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "other/kept"));
}

}  // namespace
}  // namespace hostler::agent

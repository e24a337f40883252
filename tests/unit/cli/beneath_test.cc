#include "core/cli/beneath.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>

#include "tests/temp_folder.h"

namespace hostler::cli {
namespace {

namespace fs = std::filesystem;

class BeneathTest : public testing::TestWithParam<OpenBy> {
 protected:
  void SetUp() override {
    fs::create_directory(folder / "in");
    fs::create_directory(folder / "out");
    base.reset(::open((folder / "in").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  /// "" if it was written.
  std::string put(const std::string& path) const {
    auto file = FileBeneath::create(base, path, GetParam());
    if (!file) return file.error().message;
    EXPECT_EQ(::write(file->fd(), "new", 3), 3);
    const auto done = file->finish();
    return done ? "" : done.error().message;
  }
  /// Files, links and folders beneath `name`, without those that are to be there.
  [[nodiscard]] std::size_t count(const std::string& name) const {
    const fs::recursive_directory_iterator all(folder / name);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  test::TempFolder folder;
  UniqueFd base;
};

INSTANTIATE_TEST_SUITE_P(EachWay, BeneathTest, testing::Values(OpenBy::kOpenat2, OpenBy::kParts),
                         [](const auto& way) {
                           return way.param == OpenBy::kOpenat2 ? "Openat2" : "Parts";
                         });

TEST_P(BeneathTest, FilesAndTheirFoldersAreMadeAndReplaced) {
  if (GetParam() == OpenBy::kOpenat2 && best_way() != OpenBy::kOpenat2) GTEST_SKIP();
  for (const std::string path : {"a", "b/c", "b/d/e", "b/d/e"}) EXPECT_EQ(put(path), "") << path;
  EXPECT_EQ(fs::file_size(folder / "in/b/d/e"), 3U);
  EXPECT_EQ(count("in"), 5U);
}

TEST_P(BeneathTest, NamesThatLeadOutAreRefused) {
  for (const std::string path :
       {"..", "../out/x", "a/../../out/x", "/tmp/x", "", ".", "a/", "a//b", "./a", "a/./b", "a\nb"})
    EXPECT_THAT(put(path), testing::HasSubstr("leaves the folder")) << path;
  EXPECT_THAT(put(std::string("a\0/../../out/x", 14)), testing::HasSubstr("leaves the folder"));
  EXPECT_EQ(count("in") + count("out"), 0U);
}

TEST_P(BeneathTest, LinksThatAreThereAreNotFollowed) {
  if (GetParam() == OpenBy::kOpenat2 && best_way() != OpenBy::kOpenat2) GTEST_SKIP();
  fs::create_symlink(folder / "out", folder / "in/away");
  fs::create_symlink("../out", folder / "in/up");
  fs::create_symlink("/proc/self/cwd", folder / "in/magic");
  fs::create_directory(folder / "in/deep");
  fs::create_symlink("../../out", folder / "in/deep/up");
  fs::create_symlink(folder / "out/file", folder / "in/file");
  for (const std::string path : {"away/x", "up/x", "magic/x", "deep/up/x", "deep/up/y/z", "file"})
    EXPECT_THAT(put(path), testing::HasSubstr("symbolic link")) << path;
  EXPECT_EQ(count("out"), 0U);
}

TEST_P(BeneathTest, AFolderThatBecomesALinkIsNotFollowed) {
  if (GetParam() == OpenBy::kOpenat2 && best_way() != OpenBy::kOpenat2) GTEST_SKIP();
  auto file = FileBeneath::create(base, "a/b", GetParam());
  ASSERT_TRUE(file);
  fs::rename(folder / "in/a", folder / "in/moved");
  fs::create_symlink(folder / "out", folder / "in/a");
  EXPECT_TRUE(file->finish());
  EXPECT_EQ(count("out"), 0U);
  EXPECT_TRUE(fs::exists(folder / "in/moved/b"));
}

TEST_P(BeneathTest, WhatIsNotFinishedLeavesNothing) {
  if (GetParam() == OpenBy::kOpenat2 && best_way() != OpenBy::kOpenat2) GTEST_SKIP();
  std::ofstream(folder / "in/a") << "old";
  {
    auto file = FileBeneath::create(base, "a", GetParam());
    ASSERT_TRUE(file);
    EXPECT_EQ(::write(file->fd(), "n", 1), 1);
  }
  EXPECT_EQ(fs::file_size(folder / "in/a"), 3U);
  EXPECT_EQ(count("in"), 1U);
  fs::create_directory(folder / "in/b");
  EXPECT_THAT(put("b"), testing::HasSubstr("is a folder"));
  EXPECT_THAT(put("a/b"), testing::HasSubstr("not a folder"));
}

/// From now on openat2() fails with `code` in this process.
bool take_openat2_away(unsigned code) {
  std::array<sock_filter, 4> rules{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{rules.size(), rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(BestWayTest, KernelsAndSandboxesWithoutOpenat2AreServed) {
  for (const int code : {ENOSYS, EPERM})
    EXPECT_EXIT(
        {
          if (!take_openat2_away(static_cast<unsigned>(code))) ::_exit(0);  // No seccomp here.
          test::TempFolder folder;
          const UniqueFd base(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
          auto file = FileBeneath::create(base, "a/b");
          const bool good =
              best_way() == OpenBy::kParts && file && file->finish() && fs::exists(folder / "a/b");
          fs::remove_all(folder.path());
          ::_exit(good ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hostler::cli

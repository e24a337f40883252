#include "core/base/trusted_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/temp_folder.h"

namespace hostler {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uid_t kOther = 65534;

class TrustedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "a/b");
    for (const char* one : {"a", "a/b"}) ::chmod((folder_ / one).c_str(), 0755);
    file_ = folder_.put("a/b/file", "content", 0644);
  }
  std::string said(const fs::path& path, const fs::path& never_beneath = {}) const {
    const auto read = read_trusted_file(path, 1024, never_beneath);
    return read ? *read : read.error().message;
  }
  std::string said() const { return said(file_); }
  fs::path link(const std::string& name, const fs::path& target) const {
    fs::create_symlink(target, folder_ / name);
    return folder_ / name;
  }

  test::TempFolder folder_;
  fs::path file_;
};

TEST_F(TrustedFileTest, ReadsAFileThatOnlyWeCanChange) {
  EXPECT_EQ(said(), "content");
  EXPECT_EQ(said(folder_ / "a/../a/./b//file"), "content");
  const test::WorkingFolder elsewhere;
  EXPECT_THAT(said("file"), HasSubstr("No such file"));
}

TEST_F(TrustedFileTest, RefusesAFileThatOthersMayWriteTo) {
  ::chmod(file_.c_str(), 0646);
  EXPECT_THAT(said(), AllOf(HasSubstr(file_.string()), HasSubstr("writable by everybody"),
                            HasSubstr("chmod go-w")));
}

TEST_F(TrustedFileTest, RefusesAFileBeneathAFolderThatOthersMayWriteTo) {
  for (const char* folder : {"a", "a/b"}) {
    ::chmod((folder_ / folder).c_str(), 0757);
    EXPECT_THAT(said(), HasSubstr("the folder " + (folder_ / folder).string() + " is writable"));
    ::chmod((folder_ / folder).c_str(), 01777);
    EXPECT_EQ(said(), "content") << "nobody can exchange what others have in a sticky folder";
    ::chmod((folder_ / folder).c_str(), 0755);
  }
}

TEST_F(TrustedFileTest, TheFoldersOfASymbolicLinkCountToo) {
  fs::create_directory(folder_ / "links");
  const auto file = link("links/file", "../a/b/file");
  const auto folder = link("links/folder", folder_ / "a/b");
  EXPECT_EQ(said(file), "content");
  EXPECT_EQ(said(folder / "file"), "content");

  ::chmod((folder_ / "links").c_str(), 0777);
  EXPECT_THAT(said(file), HasSubstr("links is writable"));
  EXPECT_THAT(said(folder / "file"), HasSubstr("links is writable"));

  ::chmod((folder_ / "links").c_str(), 0755);
  ::chmod((folder_ / "a").c_str(), 0777);
  EXPECT_THAT(said(file), HasSubstr("/a is writable")) << "those of its target as well";
}

TEST_F(TrustedFileTest, RefusesWhatIsNoRegularFileWithoutWaitingForIt) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(said(folder_ / "pipe"), HasSubstr("not a regular file"));
  EXPECT_THAT(said(folder_.path()), HasSubstr("not a regular file"));
  EXPECT_THAT(said("/"), HasSubstr("not a regular file"));
  EXPECT_THAT(said(file_ / "x"), HasSubstr("Not a directory"));
  EXPECT_THAT(said(link("circle", "circle")), HasSubstr("symbolic links"));
  EXPECT_THAT(said(link("nowhere", "none")), HasSubstr("No such file"));
}

TEST_F(TrustedFileTest, RefusesEverythingBeneathTheForbiddenFolder) {
  EXPECT_THAT(said(file_, folder_ / "a"), HasSubstr("beneath the state folder"));
  EXPECT_THAT(said(link("other", "a/b"), {}), HasSubstr("not a regular file"));
  EXPECT_THAT(said(folder_ / "other/file", folder_ / "a"), HasSubstr("beneath the state folder"));
  EXPECT_THAT(said(file_, link("alias", "a")), HasSubstr("beneath the state folder"));
  EXPECT_EQ(said(file_, folder_ / "missing"), "content");
}

TEST_F(TrustedFileTest, RefusesWhatBelongsToAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  const auto to_file = link("link", file_);
  for (const fs::path& one : {file_, folder_ / "a", folder_ / "a/b", to_file}) {
    ASSERT_EQ(::lchown(one.c_str(), kOther, kOther), 0);
    EXPECT_THAT(said(to_file),
                AllOf(HasSubstr(one.string()), HasSubstr("belongs to uid 65534, and not to root")));
    ASSERT_EQ(::lchown(one.c_str(), 0, 0), 0);
  }
  // Anybody may have put it there.
  ::chmod((folder_ / "a").c_str(), 01777);
  ASSERT_EQ(::lchown((folder_ / "a/b").c_str(), kOther, kOther), 0);
  EXPECT_THAT(said(), HasSubstr("belongs to uid 65534"));
}

TEST_F(TrustedFileTest, RootHasNoPrivateGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ::chmod(file_.c_str(), 0664);
  EXPECT_THAT(said(), HasSubstr("writable by its group (gid 0)"));
}

TEST_F(TrustedFileTest, AGroupOfOthersMayNotWrite) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  ASSERT_EQ(::chown(file_.c_str(), 0, kOther), 0);
  ::chmod(file_.c_str(), 0664);
  EXPECT_THAT(said(), HasSubstr("writable by its group (gid 65534)"));
}

/// As Debian's useradd and a umask of 002 leave it. Which users have a group of their own is the
/// machine's; root can be any of them for a moment.
TEST_F(TrustedFileTest, AUsersPrivateGroupMayWrite) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to be another user";
  ::chmod(folder_.path().c_str(), 0755);
  for (const fs::path& one : {file_, folder_ / "a/b", folder_ / "a"}) {
    ASSERT_EQ(::chown(one.c_str(), 1, 1), 0);  // daemon:daemon on every Debian
    ::chmod(one.c_str(), one == file_ ? 0664 : 0775);
  }
  ASSERT_EQ(::seteuid(1), 0);
  const std::string as_daemon = said();
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_EQ(::seteuid(2), 0);  // bin
  const std::string as_bin = said();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(as_daemon, "content");
  EXPECT_THAT(as_bin, HasSubstr("belongs to uid 1, who is neither root nor the user"));
}

}  // namespace
}  // namespace hostler

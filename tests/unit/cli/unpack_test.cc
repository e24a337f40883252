// A backup as it comes from a daemon, which may say anything.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "core/base/tar.h"
#include "core/cli/unpack.h"
#include "tests/temp_folder.h"

namespace hostler::cli {
namespace {

using testing::HasSubstr;

std::string entry(const std::string& name, const std::string& content) {
  return tar::header({name, content.size()}) + content +
         std::string(tar::padding(content.size()), '\0');
}
const std::string kArchiveEnd(2 * tar::kBlock, '\0');

class UnpackTest : public testing::Test {
 protected:
  /// The error of an unpack, or empty. Bytes come in pieces of `piece`.
  std::string unpacked(const std::string& archive, std::size_t piece = 1000) {
    auto unpack = Unpack::into(target_);
    if (!unpack) return unpack.error().message;
    for (std::size_t at = 0; at < archive.size(); at += piece)
      if (const auto taken = unpack->take(archive.substr(at, piece)); !taken)
        return taken.error().message;
    const auto finished = unpack->finish();
    return finished ? "" : finished.error().message;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    return read_file(target_ / name, 10'000).value_or("?");
  }
  void expect_nothing() const {
    EXPECT_FALSE(std::filesystem::exists(target_));
    EXPECT_FALSE(std::filesystem::exists(target_.string() + ".part"));
  }

  test::TempFolder folder_;
  const std::filesystem::path target_ = folder_ / "backup";
};

TEST_F(UnpackTest, WritesWhatCameInAnyPiecesForItsOwnerOnly) {
  const std::string rows(5000, 'r');
  for (const std::size_t piece : {1, 511, 512, 100'000}) {
    std::filesystem::remove_all(target_);
    EXPECT_EQ(unpacked(entry("hostler.db", rows) + entry("spool/0a/j-10.1/0", "") +
                           entry("keys/local_ed25519", "secret") + entry("backup.json", "{}") +
                           kArchiveEnd,
                       piece),
              "");
    EXPECT_EQ(read("hostler.db"), rows);
    EXPECT_EQ(read("spool/0a/j-10.1/0"), "");
    EXPECT_EQ(read("keys/local_ed25519"), "secret");
    for (const auto& one : std::filesystem::recursive_directory_iterator(target_)) {
      struct stat info {};
      ASSERT_EQ(::stat(one.path().c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 077U, 0U) << one.path();
    }
  }
}

TEST_F(UnpackTest, LeavesNothingOfAnArchiveThatWasCut) {
  const auto whole = entry("hostler.db", "rows") + entry("backup.json", "{}") + kArchiveEnd;
  for (const std::size_t length : {std::size_t{0}, std::size_t{100}, std::size_t{514},
                                   std::size_t{1024}, whole.size() - kArchiveEnd.size()}) {
    EXPECT_THAT(unpacked(whole.substr(0, length)), HasSubstr("did not send all")) << length;
    expect_nothing();
  }
  EXPECT_THAT(unpacked(entry("hostler.db", "rows") + kArchiveEnd), HasSubstr("did not send all"));
  expect_nothing();
}

TEST_F(UnpackTest, WritesNoFileThatNoBackupHas) {
  for (const auto* name : {"/etc/passwd", "../x", "spool/../../x", "spool/a\nb", "other/x", "lock",
                           "spool", "", "a//b", "spool/", "postgres", "spool/\x1b[2J"}) {
    EXPECT_NE(unpacked(entry(name, "x") + entry("backup.json", "{}") + kArchiveEnd), "") << name;
    expect_nothing();
  }
  EXPECT_NE(unpacked(entry("hostler.db", "x") + entry("hostler.db", "y") +
                     entry("backup.json", "{}") + kArchiveEnd),
            "");
  EXPECT_NE(unpacked(entry("hostler.db", "x") + entry("backup.json", "{}") + entry("spool/a", "y") +
                     kArchiveEnd),
            "");
  auto link = tar::header({"spool/a", 0});
  link[156] = '2';
  EXPECT_NE(unpacked(link + entry("backup.json", "{}") + kArchiveEnd), "");
  EXPECT_THAT(unpacked(std::string(tar::kBlock, 'x')), HasSubstr("damaged"));
  expect_nothing();
}

TEST_F(UnpackTest, TakesNoFolderThatIsThere) {
  std::filesystem::create_directory(target_);
  EXPECT_THAT(unpacked(""), HasSubstr("exists"));
  std::filesystem::remove(target_);
  std::filesystem::create_directory_symlink(folder_ / "elsewhere", target_);
  EXPECT_THAT(unpacked(""), HasSubstr("exists"));
  std::filesystem::remove(target_);
  std::filesystem::create_directory(target_.string() + ".part");
  EXPECT_NE(unpacked(""), "");
  EXPECT_TRUE(std::filesystem::exists(target_.string() + ".part"));
}

TEST(TarTest, KeepsSizesOfAnyLength) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{511}, std::uint64_t{1} << 33U,
                                   (std::uint64_t{1} << 33U) - 1, std::uint64_t{1} << 50U}) {
    const auto entry = tar::parse_header(tar::header({"blobs/ab/" + std::string(64, 'c'), size}));
    ASSERT_TRUE(entry && *entry) << size;
    EXPECT_EQ((*entry)->size, size);
    EXPECT_EQ((*entry)->name, "blobs/ab/" + std::string(64, 'c'));
  }
}

}  // namespace
}  // namespace hostler::cli

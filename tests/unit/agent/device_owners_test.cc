#include "core/agent/host/system/device_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace hostler::agent {
namespace {

using testing::HasSubstr;

constexpr const char* kFirst = "/dev/nvidia0";
constexpr const char* kSecond = "/dev/nvidia1";
constexpr FileOwner kBefore{0, 44, 0660};
constexpr FileOwner kRoots{0, 0, 0600};

FileOwner only(std::uint32_t uid) { return {uid, 0, 0600}; }
std::string kept() { return read_file("card_owners", 4096).value_or(""); }

struct Killed {};

/// Device files in memory. The process is killed before the change after so many.
class FakeFiles : public OwnedFiles {
 public:
  [[nodiscard]] std::optional<FileOwner> look(const std::string& path) const override {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
  Result<void> change(const std::string& path, const FileOwner& owner) override {
    if (changes_left-- == 0) throw Killed();
    EXPECT_THAT(kept(), HasSubstr(path)) << "it is on the disk first";
    if (path == refused) return fail(Errc::kInternal, "chown: Operation not permitted");
    files[path] = owner;
    return {};
  }
  std::map<std::string, FileOwner> files{{kFirst, kBefore}, {kSecond, {0, 0, 0666}}};
  std::string refused;
  int changes_left = 1000;
};

class DeviceOwnersTest : public testing::Test {
 protected:
  /// Of the next process.
  DeviceOwners next() {
    files_.changes_left = 1000;
    DeviceOwners out(files_);
    out.open();
    return out;
  }
  const hostler::test::WorkingFolder folder_;
  FakeFiles files_;
  const std::map<std::string, FileOwner> before_ = files_.files;
};

TEST_F(DeviceOwnersTest, EachFileBelongsToItsUserAlone) {
  auto owners = next();
  ASSERT_TRUE(owners.set({{kFirst, 700'001}, {kSecond, 0}}));
  EXPECT_EQ(files_.files[kFirst], only(700'001));
  EXPECT_EQ(files_.files[kSecond], kRoots);
  ASSERT_TRUE(owners.set({{kFirst, 0}, {kSecond, 700'002}}));
  EXPECT_EQ(files_.files[kFirst], kRoots);
  EXPECT_EQ(files_.files[kSecond], only(700'002));
}

TEST_F(DeviceOwnersTest, AFileThatIsNoCardsAnyMoreGetsBackWhatItHad) {
  auto owners = next();
  ASSERT_TRUE(owners.set({{kFirst, 700'001}, {kSecond, 0}}));
  ASSERT_TRUE(owners.set({{kSecond, 0}}));
  EXPECT_EQ(files_.files[kFirst], kBefore);
  EXPECT_EQ(kept(), "0 0 438 /dev/nvidia1\n");
}

TEST_F(DeviceOwnersTest, TheNextProcessGivesBackWhatWasBeforeTheFirst) {
  ASSERT_TRUE(next().set({{kFirst, 700'001}, {kSecond, 0}}));
  ASSERT_TRUE(next().set({{kFirst, 0}, {kSecond, 700'002}}));
  next().give_back();
  EXPECT_EQ(files_.files, before_);
  EXPECT_FALSE(std::filesystem::exists("card_owners"));
}

TEST_F(DeviceOwnersTest, ACrashBetweenAnyTwoStepsLosesNoOwner) {
  for (int step = 0;; ++step) {
    SCOPED_TRACE(step);
    auto owners = next();
    files_.changes_left = step;
    bool killed = false;
    try {
      ASSERT_TRUE(owners.set({{kFirst, 700'001}, {kSecond, 700'002}}));
      ASSERT_TRUE(owners.set({{kSecond, 0}}));
      owners.give_back();
    } catch (const Killed&) {
      killed = true;
    }
    ASSERT_TRUE(next().set({{kFirst, 0}, {kSecond, 0}}));
    EXPECT_EQ(files_.files[kFirst], kRoots);
    next().give_back();
    EXPECT_EQ(files_.files, before_);
    if (!killed) return;
  }
}

TEST_F(DeviceOwnersTest, ACrashWhileGivingBackLeavesTheRestToTheNextProcess) {
  ASSERT_TRUE(next().set({{kFirst, 700'001}, {kSecond, 0}}));
  auto owners = next();
  files_.changes_left = 1;
  EXPECT_THROW(owners.give_back(), Killed);
  next().give_back();
  EXPECT_EQ(files_.files, before_);
}

TEST_F(DeviceOwnersTest, WithoutItsFileOnTheDiskNothingChanges) {
  std::filesystem::create_directory("card_owners");
  auto owners = next();
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(owners.set({{kFirst, 700'001}}));
  EXPECT_EQ(files_.files, before_);
}

TEST_F(DeviceOwnersTest, WhatIsNoCharacterDeviceIsLeftOut) {
  auto owners = next();
  EXPECT_TRUE(owners.set({{"/dev/gone", 700'001}, {"/dev/new\nline", 0}, {kFirst, 0}}));
  EXPECT_EQ(kept(), "0 44 432 /dev/nvidia0\n");
  files_.files.erase(kFirst);
  owners.give_back();
  EXPECT_FALSE(std::filesystem::exists("card_owners")) << "nobody asks for a file that is gone";
}

TEST_F(DeviceOwnersTest, AFileThatCannotBeGivenIsAnError) {
  files_.refused = kFirst;
  auto owners = next();
  const auto set = owners.set({{kFirst, 700'001}});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message, "chown: Operation not permitted");
}

TEST_F(DeviceOwnersTest, LinesThatNobodyWroteAreSkipped) {
  ASSERT_TRUE(write_file("card_owners",
                         "0 0 438\n0 0 99999 /dev/nvidia0\n-1 0 438 /dev/nvidia0\nx\n"
                         "0 0 438 relative\n4294967296 0 438 /dev/nvidia0\n0 7 432 /dev/nvidia1\n",
                         0600));
  next().give_back();
  EXPECT_EQ(files_.files[kFirst], kBefore);
  EXPECT_EQ(files_.files[kSecond], (FileOwner{0, 7, 0660}));
}

}  // namespace
}  // namespace hostler::agent

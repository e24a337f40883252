// The cgroups are folders of files: which guard is chosen, and which rules are written. What the
// kernel does of them is shown by tests/integration/agent.
#include "core/agent/host/system/device_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace hostler::agent {
namespace {

using model::CardGuard;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kNull = "/dev/null";  // 1:3
constexpr const char* kZero = "/dev/zero";  // 1:5

class DeviceGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  }
  void give(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    (void)folder_.put(path, text);
  }
  void give_v1(const std::string& allowed) {
    give("devices/cgroup.procs", "");
    for (const std::string slot : {"0", "1"}) {
      give("devices/jobs/" + slot + "/devices.list", allowed);
      give("devices/jobs/" + slot + "/devices.allow", "");
      give("devices/jobs/" + slot + "/devices.deny", "");
    }
  }
  CardGuard opened(CardGuard most) {
    cgroups_ = SlotCgroups(folder_.path(), folder_.put("own", ""), folder_ / "mounts");
    cgroups_.open("jobs", false);
    guard_.open(most);
    return guard_.kind();
  }
  std::string rule(const std::string& file) {
    return read_file(folder_ / ("devices/jobs/1/" + file), 4096).value_or("nothing");
  }

  const hostler::test::WorkingFolder state_;
  const hostler::test::TempFolder folder_;
  SlotCgroups cgroups_;
  DeviceGuard guard_{cgroups_};
};

TEST_F(DeviceGuardTest, WithoutCgroupsTheOwnersAreWhatIsLeft) {
  EXPECT_EQ(opened(CardGuard::kBpf), CardGuard::kOwners);
  EXPECT_EQ(opened(CardGuard::kNone), CardGuard::kNone);
}

TEST_F(DeviceGuardTest, AMountOfV2ThatTakesNoProgramGivesWayToV1) {
  give("mounts", "41 31 0:38 / " + (folder_ / "unified").string() + " rw - cgroup2 cgroup2 rw\n");
  give("unified/cgroup.controllers", "");
  give("unified/jobs/cgroup.subtree_control", "");
  give("unified/jobs/0/cgroup.procs", "");
  give_v1("a *:* rwm\n");
  EXPECT_EQ(opened(CardGuard::kBpf), CardGuard::kCgroup1);
  EXPECT_EQ(opened(CardGuard::kOwners), CardGuard::kOwners);
}

// A rule of one device does not narrow a wide one: "c 195:* rwm" would leave all cards open.
TEST_F(DeviceGuardTest, BelowACgroupOfV1ThatListsWhatItAllowsTheOwnersAreUsed) {
  give_v1("c 195:* rwm\n");
  EXPECT_EQ(opened(CardGuard::kBpf), CardGuard::kOwners);
}

TEST_F(DeviceGuardTest, OfV1DeniesTheCardsOfOthersAndAllowsItsOwn) {
  give_v1("a *:* rwm\n");
  ASSERT_EQ(opened(CardGuard::kBpf), CardGuard::kCgroup1);
  EXPECT_TRUE(guard_.set_files({kNull, kZero}).empty());

  ASSERT_TRUE(guard_.confine({.slot = 1, .uid = 7, .files = {kZero, "/dev/another"}}));

  EXPECT_EQ(rule("devices.deny"), "c 1:3 rwm");
  EXPECT_EQ(rule("devices.allow"), "c 1:5 rwm");
}

TEST_F(DeviceGuardTest, OneDeviceUnderTwoPathsIsOpenToTheAttemptThatHasOneOfThem) {
  give_v1("a *:* rwm\n");
  ASSERT_EQ(opened(CardGuard::kBpf), CardGuard::kCgroup1);
  const auto same = folder_ / "same";
  std::filesystem::create_symlink(kZero, same);
  EXPECT_TRUE(guard_.set_files({kZero, same}).empty());

  ASSERT_TRUE(guard_.confine({.slot = 1, .uid = 7, .files = {same}}));

  EXPECT_EQ(rule("devices.deny"), "");
  EXPECT_EQ(rule("devices.allow"), "c 1:5 rwm");
}

TEST_F(DeviceGuardTest, FilesThatAreNoCharacterDevicesAreNamedAndLeftOut) {
  give_v1("a *:* rwm\n");
  ASSERT_EQ(opened(CardGuard::kBpf), CardGuard::kCgroup1);
  give("file", "");
  EXPECT_THAT(guard_.set_files({folder_ / "gone", kZero, folder_ / "file", folder_.path()}),
              ElementsAre(folder_.path(), folder_ / "file", folder_ / "gone"));
  ASSERT_TRUE(guard_.confine({.slot = 1, .uid = 7, .files = {}}));
  EXPECT_EQ(rule("devices.deny"), "c 1:5 rwm");
}

TEST_F(DeviceGuardTest, ADeviceWhoseFileIsGoneStaysDenied) {
  give_v1("a *:* rwm\n");
  ASSERT_EQ(opened(CardGuard::kBpf), CardGuard::kCgroup1);
  const auto file = folder_ / "card";
  std::filesystem::create_symlink(kZero, file);
  (void)guard_.set_files({file});
  std::filesystem::remove(file);
  (void)guard_.set_files({file, kNull});
  ASSERT_TRUE(guard_.confine({.slot = 1, .uid = 7, .files = {kNull}}));
  EXPECT_EQ(rule("devices.deny"), "c 1:5 rwm");
}

TEST_F(DeviceGuardTest, AnAttemptWithoutItsCgroupIsNotConfined) {
  give_v1("a *:* rwm\n");
  ASSERT_EQ(opened(CardGuard::kBpf), CardGuard::kCgroup1);
  (void)guard_.set_files({kZero});
  const auto confined = guard_.confine({.slot = 5, .uid = 7, .files = {}});
  ASSERT_FALSE(confined);
  EXPECT_THAT(confined.error().message, HasSubstr("no cgroup"));
}

}  // namespace
}  // namespace hostler::agent

// On a folder of files: where which cgroups are looked for and made.
#include "core/agent/host/system/slot_cgroups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace hostler::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using Version = Cgroups::Version;

class SlotCgroupsTest : public testing::Test {
 protected:
  /// The files that the kernel makes in a folder of cgroups.
  void give(const std::string& path, const std::vector<std::string>& files) {
    std::filesystem::create_directories(folder_ / path);
    for (const auto& file : files) (void)folder_.put(path + "/" + file, "");
  }
  void give_v1(const std::string& controller, const std::vector<std::string>& files = {}) {
    give(controller, {"cgroup.procs"});
    give(controller + "/jobs/1", files);
  }
  void give_v2(const std::string& at) {
    give(at, {"cgroup.controllers", "cgroup.subtree_control"});
    give(at + "/jobs", {"cgroup.subtree_control"});
  }
  SlotCgroups cgroups(const std::string& mounts, bool limited) {
    SlotCgroups out(folder_.path(), folder_.put("own", "0::/\n"), folder_.put("mounts", mounts));
    out.open("jobs", limited);
    return out;
  }
  std::string mounted(const std::string& at) {
    return "31 23 0:28 / /sys rw - tmpfs tmpfs rw\n41 31 0:38 / " + (folder_ / at).string() +
           " rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
  }

  const hostler::test::TempFolder folder_;
};

TEST_F(SlotCgroupsTest, OfV2TheGuardUsesTheFolderWithTheLimits) {
  give_v2(".");
  give("jobs/1", {"memory.max", "memory.swap.max", "pids.max"});
  auto cgroups = this->cgroups("", true);
  ASSERT_TRUE(cgroups.choose_devices(Version::kV2));

  for (const std::uint64_t ram : {std::uint64_t{4096}, std::uint64_t{0}}) {
    const auto place = cgroups.prepare(1, {.ram_max = ram}, true);
    EXPECT_THAT(place.folders, ElementsAre(folder_ / "jobs/1"));
    EXPECT_EQ(place.has_limits, ram != 0);
    EXPECT_EQ(place.devices, folder_ / "jobs/1");
    EXPECT_THAT(read_file(folder_ / "jobs/1/memory.max", 99).value_or(""),
                StartsWith(ram != 0 ? "4096" : "max"));
  }
  EXPECT_THAT(cgroups.prepare(1, {}, false).folders, IsEmpty()) << "a host without cards";
}

TEST_F(SlotCgroupsTest, AMountOfV2BesideV1IsEnoughForTheGuard) {
  give_v1("memory", {"memory.limit_in_bytes", "memory.max_usage_in_bytes"});
  give_v1("pids", {"pids.max"});
  give_v2("unified");
  auto cgroups = this->cgroups(mounted("unified"), true);
  ASSERT_TRUE(cgroups.choose_devices(Version::kV2));

  const auto place = cgroups.prepare(1, {.ram_max = 4096}, true);
  EXPECT_THAT(place.folders, ElementsAre(folder_ / "memory/jobs/1", folder_ / "pids/jobs/1",
                                         folder_ / "unified/jobs/1"));
  EXPECT_TRUE(place.has_limits);
  EXPECT_EQ(place.devices, folder_ / "unified/jobs/1");
  EXPECT_EQ(cgroups.limits(), Version::kV1);
}

TEST_F(SlotCgroupsTest, TheGuardHasItsFolderWhereNothingCanBeLimited) {
  give_v2("unified");
  auto cgroups = this->cgroups(mounted("unified"), false);
  ASSERT_TRUE(cgroups.choose_devices(Version::kV2));

  const auto place = cgroups.prepare(1, {.ram_max = 4096}, true);
  EXPECT_THAT(place.folders, ElementsAre(folder_ / "unified/jobs/1"));
  EXPECT_FALSE(place.has_limits);
  EXPECT_EQ(cgroups.limits(), Version::kNone);
}

TEST_F(SlotCgroupsTest, OfV1TheGuardUsesTheControllerDevices) {
  give_v1("devices");
  auto cgroups = this->cgroups("31 23 0:28 / /sys rw - tmpfs tmpfs rw\n", false);
  EXPECT_FALSE(cgroups.choose_devices(Version::kV2));
  ASSERT_TRUE(cgroups.choose_devices(Version::kV1));

  EXPECT_EQ(cgroups.prepare(1, {}, true).devices, folder_ / "devices/jobs/1");
  EXPECT_THAT(cgroups.folders(1), ElementsAre(folder_ / "devices/jobs/1"));
}

TEST_F(SlotCgroupsTest, WithoutAnyHierarchyThereIsNoFolder) {
  auto cgroups = this->cgroups("", true);
  EXPECT_FALSE(cgroups.choose_devices(Version::kV2));
  EXPECT_FALSE(cgroups.choose_devices(Version::kV1));
  EXPECT_THAT(cgroups.prepare(1, {.ram_max = 4096}, true).folders, IsEmpty());
  EXPECT_FALSE(cgroups.has_any());
}

TEST_F(SlotCgroupsTest, FoldersOfAnEarlierServersSlotAreRemovedAfterItsLastAttempt) {
  give_v2("unified");
  std::filesystem::create_directories(folder_ / "unified/jobs/7");
  auto cgroups = this->cgroups(mounted("unified"), false);
  (void)folder_.put("unified/jobs/7/process", "");  // open() cannot remove it
  ASSERT_TRUE(cgroups.choose_devices(Version::kV2));
  cgroups.adopt(7);
  std::filesystem::remove(folder_ / "unified/jobs/7/process");
  cgroups.remove_idle({7});
  EXPECT_TRUE(std::filesystem::exists(folder_ / "unified/jobs/7"));

  cgroups.remove_idle({});

  EXPECT_FALSE(std::filesystem::exists(folder_ / "unified/jobs/7"));
}

}  // namespace
}  // namespace hostler::agent

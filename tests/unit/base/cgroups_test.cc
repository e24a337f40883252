// Cgroups on a folder of files: this shows what is written where, not what the kernel does of it.
#include "core/base/cgroups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace hostler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr CgroupLimits kLimits{.ram_max = 4096, .cpu_weight = 25};

class CgroupsTest : public testing::Test {
 protected:
  /// The files that the kernel makes in a folder of cgroups.
  void give(const std::string& path, const std::vector<std::string>& files) {
    std::filesystem::create_directories(folder_ / path);
    for (const auto& file : files) (void)folder_.put(path + "/" + file, "");
  }
  std::string written(const std::string& path) {
    return read_file(folder_ / path, 4096).value_or("nothing");
  }
  Cgroups cgroups(const std::string& own) {
    Cgroups out({"memory", "cpu"}, folder_.path(), folder_.put("own", own));
    out.open("drivers");
    return out;
  }
  void give_v2(const std::string& above) {
    (void)folder_.put("cgroup.controllers", "cpu memory");
    give(above, {"cgroup.subtree_control"});
    give(above + "/drivers", {"cgroup.subtree_control"});
    give(above + "/drivers/1", {"memory.max", "memory.swap.max", "cpu.weight"});
  }

  const test::TempFolder folder_;
};

TEST_F(CgroupsTest, OfV2LimitMemoryAndCpuInOneFolder) {
  give_v2(".");
  auto cgroups = this->cgroups("0::/user.slice/user-0.slice/session-1.scope\n");

  EXPECT_EQ(cgroups.version(), Cgroups::Version::kV2);
  EXPECT_THAT(cgroups.prepare(1, kLimits), ElementsAre(folder_ / "drivers/1"));
  EXPECT_EQ(written("cgroup.subtree_control"), "+memory +cpu");
  EXPECT_EQ(written("drivers/cgroup.subtree_control"), "+memory +cpu");
  EXPECT_EQ(written("drivers/1/memory.max"), "4096");
  EXPECT_EQ(written("drivers/1/memory.swap.max"), "0");
  EXPECT_EQ(written("drivers/1/cpu.weight"), "25");
}

// Bug: after the last cgroup was removed, new ones had no limits.
TEST_F(CgroupsTest, LimitAlsoWhatComesAfterTheLastOneWasRemoved) {
  give_v2(".");
  auto cgroups = this->cgroups("0::/\n");
  (void)cgroups.prepare(1, kLimits);
  cgroups.remove_idle({});
  (void)folder_.put("drivers/cgroup.subtree_control", "");

  EXPECT_THAT(cgroups.prepare(1, kLimits), ElementsAre(folder_ / "drivers/1"));
  EXPECT_EQ(written("drivers/cgroup.subtree_control"), "+memory +cpu");
}

TEST_F(CgroupsTest, OfAServiceAreBesideThatOfItsOwnProcesses) {
  give_v2("system.slice/hostlerd.service");
  auto cgroups = this->cgroups("0::/system.slice/hostlerd.service/daemon\n");

  EXPECT_THAT(cgroups.prepare(1, kLimits),
              ElementsAre(folder_ / "system.slice/hostlerd.service/drivers/1"));
  EXPECT_EQ(written("system.slice/hostlerd.service/cgroup.subtree_control"), "+memory +cpu");
}

TEST_F(CgroupsTest, OfV1LimitEachInItsHierarchy) {
  for (const char* controller : {"memory", "cpu"}) {
    give(controller, {"cgroup.procs"});
    give(std::string(controller) + "/own/drivers/1",
         {"memory.limit_in_bytes", "memory.max_usage_in_bytes", "cpu.shares"});
  }
  auto cgroups = this->cgroups("4:memory:/own\n1:cpu,cpuacct:/own\n");

  EXPECT_EQ(cgroups.version(), Cgroups::Version::kV1);
  EXPECT_THAT(cgroups.prepare(1, kLimits),
              ElementsAre(folder_ / "memory/own/drivers/1", folder_ / "cpu/own/drivers/1"));
  EXPECT_EQ(written("memory/own/drivers/1/memory.limit_in_bytes"), "4096");
  EXPECT_EQ(written("cpu/own/drivers/1/cpu.shares"), "256");
}

TEST_F(CgroupsTest, ThatCannotBeMadeAreNone) {
  (void)folder_.put("cgroup.controllers", "cpu memory");
  auto cgroups = this->cgroups("0::/\n");

  EXPECT_EQ(cgroups.version(), Cgroups::Version::kNone) << "drivers/ has no subtree_control";
  EXPECT_THAT(cgroups.prepare(1, kLimits), IsEmpty());
}

TEST_F(CgroupsTest, ThatAreMadeWithoutLimitsLoseThoseOfTheJobBefore) {
  give_v2(".");
  auto cgroups = this->cgroups("0::/\n");
  (void)cgroups.prepare(1, kLimits);

  EXPECT_THAT(cgroups.make(1), ElementsAre(folder_ / "drivers/1"));
  EXPECT_THAT(written("drivers/1/memory.max"), testing::StartsWith("max"));
}

TEST_F(CgroupsTest, OfV2NeedNoControllers) {
  give("unified", {"cgroup.controllers", "cgroup.subtree_control"});
  give("unified/guard", {"cgroup.subtree_control"});
  Cgroups cgroups({}, folder_ / "unified", folder_.put("own", "0::/\n"));
  cgroups.open("guard");

  EXPECT_EQ(cgroups.version(), Cgroups::Version::kV2);
  EXPECT_THAT(cgroups.make(3), ElementsAre(folder_ / "unified/guard/3"));
}

TEST_F(CgroupsTest, OfV2AreFoundWhereverTheyAreMounted) {
  const std::string mounts =
      folder_.put("mounts",
                  "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
                  "36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices\n"
                  "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n"
                  "42 31 0:38 / /with\\040blank rw - cgroup2 none rw\n"
                  "43 31 0:38 /part /srv/cg rw shared:1 master:2 - cgroup2 none rw\n - cgroup2 \n");
  EXPECT_THAT(Cgroups::mounts_of_v2(mounts), ElementsAre("/sys/fs/cgroup/unified", "/srv/cg"));
  EXPECT_THAT(Cgroups::mounts_of_v2(folder_ / "nothing"), IsEmpty());
}

TEST_F(CgroupsTest, WithoutALimitThatWasAskedForAreNone) {
  give_v2(".");
  std::filesystem::remove(folder_ / "drivers/1/cpu.weight");
  auto cgroups = this->cgroups("0::/\n");

  EXPECT_THAT(cgroups.prepare(1, kLimits), IsEmpty());
}

}  // namespace
}  // namespace hostler

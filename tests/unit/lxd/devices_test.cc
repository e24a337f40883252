#include "devices.h"

#include <gmock/gmock.h>

#include <hostler/driver.hpp>

#include "tests/unit/lxd/set_fixture.h"

namespace hostler::lxd::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LxdDevicesTest : public LxdSetTest {
 protected:
  LxdDevicesTest() {
    disk.role = HOSTLER_DISK_ROOT;
    disk.bytes = 5'000'000'000;
    create_request.disks = disks;
    create_request.n_disks = 1;
  }

  static std::string profile(const std::string& devices) {
    return R"({"name":"default","config":{},"devices":{)" + devices + "}}";
  }

  hostler_disk disk = driver::sized<hostler_disk>();
  const hostler_disk* disks[2] = {&disk, &disk};
};

const std::string kRoot = R"("root":{"type":"disk","path":"/","pool":"default"})";

TEST_F(LxdDevicesTest, ARootDiskIsThatOfTheProfilesWithAnotherSize) {
  disk.kind = HOSTLER_STR("fast");
  play.missing().sync(profile(kRoot + R"(,"eth0":{"type":"nic"})"));
  play.async().ended().async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
  EXPECT_EQ(play.asked[1], "GET /1.0/profiles/default?project=p%20q");
  EXPECT_THAT(play.bodies[2], HasSubstr(R"("devices":{"root":{"path":"/","pool":"fast",)"
                                        R"("size":"5000000000","type":"disk"}},"source")"));
}

TEST_F(LxdDevicesTest, OfSeveralProfilesTheLastOneCounts) {
  const hostler_str profiles[] = {HOSTLER_STR("default"), HOSTLER_STR("big")};
  create_request.profiles = profiles, create_request.n_profiles = 2;
  play.missing().sync(profile(kRoot));
  play.sync(profile(R"("root":{"type":"disk","path":"/","pool":"big","size":"1"})"));
  play.async().ended().async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
  EXPECT_THAT(play.bodies[3], HasSubstr(R"("pool":"big","size":"5000000000")"));
}

TEST_F(LxdDevicesTest, WithoutADiskInTheRequestProfilesAreNotAskedFor) {
  create_request.n_disks = 0;
  play.missing().async().ended().async().ended();
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
  EXPECT_THAT(play.bodies[1], Not(HasSubstr("devices")));
}

TEST_F(LxdDevicesTest, AProfileThatIsNotThereOrHasNoRootDiskMakesNothing) {
  Call gone, none;
  play.missing().refuse(404, "Profile not found").missing();
  EXPECT_EQ(create(gone), HOSTLER_E_NOT_FOUND);
  EXPECT_FALSE(gone.outcome_unknown());

  play.missing().sync(profile(R"("eth0":{"type":"nic"})"));
  EXPECT_EQ(create(none), HOSTLER_E_INVALID);
  EXPECT_FALSE(none.outcome_unknown());
  EXPECT_TRUE(play.steps.empty());
}

TEST_F(LxdDevicesTest, WhatLxdDoesNotHaveIsRefusedWithAWayOut) {
  const auto refusal = [&](auto change) {
    disk = driver::sized<hostler_disk>();
    disk.role = HOSTLER_DISK_ROOT;
    change();
    Call call;
    EXPECT_EQ(create(call), HOSTLER_E_UNSUPPORTED);
    return call.message();
  };
  EXPECT_THAT(refusal([&] { disk.role = HOSTLER_DISK_SCRATCH; }), HasSubstr("larger root disk"));
  EXPECT_THAT(refusal([&] { disk.iops = 1; }), HasSubstr("limits.read"));
  EXPECT_THAT(refusal([&] { disk.throughput_bytes_per_s = 1; }), HasSubstr("limits.read"));
  EXPECT_TRUE(play.asked.empty());
}

TEST_F(LxdDevicesTest, TwoRootDisksAreInvalid) {
  create_request.n_disks = 2;
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_INVALID);
}

TEST_F(LxdDevicesTest, GpusAreThoseOfTheProfiles) {
  const std::string one = R"("g0":{"type":"gpu","pci":"0000:01:00.0"})";
  create_request.n_disks = 0;
  type.gpus = 2;
  Call few, enough, by_file, all;

  play.missing().sync(profile(one));
  EXPECT_EQ(create(few), HOSTLER_E_UNSUPPORTED);
  EXPECT_THAT(few.message(), HasSubstr("has 2 gpus, and its profiles give 1"));

  play.missing().sync(profile(one + R"(,"g1":{"type":"gpu","id":"1"})"));
  play.async().ended().async().ended();
  EXPECT_EQ(create(enough), HOSTLER_OK) << enough.message();

  play.missing().sync(
      profile(one + R"(,"c":{"type":"unix-char","path":"/dev/nvidia1","source":"/dev/nvidia3"})" +
              R"(,"d":{"type":"unix-char","source":"/dev/nvidiactl"})"));
  play.async().ended().async().ended();
  EXPECT_EQ(create(by_file), HOSTLER_OK) << by_file.message();

  play.missing().sync(profile(R"("g":{"type":"gpu","gputype":"physical"})"));
  play.async().ended().async().ended();
  EXPECT_EQ(create(all), HOSTLER_OK) << all.message();
}

}  // namespace
}  // namespace hostler::lxd::test

#include "core/fleet/boot.h"

#include "tests/unit/fleet/instances.h"

namespace hostler::fleet {
namespace {

Instance ended(Reason reason, bool was_ready, InstanceState state = InstanceState::kTerminating) {
  Instance out = instance_in(InstanceState::kBooting);
  out.record.state = state;
  out.record.reason_code = reason;
  if (was_ready) out.record.ready = at(10s).wall;
  return out;
}

TEST(BootTest, IsUnderWayUntilTheHostIsReady) {
  EXPECT_EQ(boot_of(instance_in(InstanceState::kRequested), at(1h)), Boot::kUnderWay);
  EXPECT_EQ(boot_of(instance_in(InstanceState::kBooting), at(1h)), Boot::kUnderWay);
  EXPECT_EQ(boot_of(instance_in(InstanceState::kIdle), at(1h)), Boot::kReady);
}

TEST(BootTest, HasFailedIfTheHostDidNotComeUp) {
  for (const Reason reason : {Reason::kBootTimeout, Reason::kInitFailed, Reason::kCloudFailed,
                              Reason::kGoneAlready, Reason::kDoesNotStart})
    EXPECT_EQ(boot_of(ended(reason, false), at(1h)), Boot::kFailed) << to_string(reason);
  EXPECT_EQ(boot_of(ended(Reason::kVanished, false, InstanceState::kGone), at(1h)), Boot::kFailed);
  EXPECT_EQ(boot_of(ended(Reason::kCloudStopped, false, InstanceState::kStopped), at(1h)),
            Boot::kFailed);
}

TEST(BootTest, HasFailedIfTheHostDiesWithinAMinuteOfItsCreate) {
  for (const Reason reason : {Reason::kCloudFailed, Reason::kVanished}) {
    EXPECT_EQ(boot_of(ended(reason, true), at(59s)), Boot::kFailed);
    EXPECT_EQ(boot_of(ended(reason, true), at(61s)), Boot::kReady);
  }
  EXPECT_EQ(boot_of(ended(Reason::kKilled, true), at(1s)), Boot::kReady);
}

TEST(BootTest, DoesNotCountWhatHostlerAnAdminOrAReclaimEnded) {
  for (const Reason reason :
       {Reason::kKilled, Reason::kDrained, Reason::kBootingSurplus, Reason::kUnwantedSpot,
        Reason::kDuplicate, Reason::kCapacity, Reason::kInvalid, Reason::kCreateTimeout})
    EXPECT_EQ(boot_of(ended(reason, false), at(1s)), Boot::kUncounted) << to_string(reason);
  Instance reclaimed = ended(Reason::kVanished, false, InstanceState::kGone);
  reclaimed.reclaimed = true;
  EXPECT_EQ(boot_of(reclaimed, at(1s)), Boot::kUncounted);
}

}  // namespace
}  // namespace hostler::fleet

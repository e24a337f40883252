#include "core/fleet/boot.h"

#include "tests/unit/fleet/cards.h"
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
  auto booting = instance_in(InstanceState::kBooting);
  booting.record.deadline = at(2h).wall;
  EXPECT_EQ(boot_of(booting, at(1h)), Boot::kUnderWay);
  EXPECT_EQ(boot_of(instance_in(InstanceState::kIdle), at(1h)), Boot::kReady);
}

// Bug: a gate was probed for ever by a host that an admin held after its boot timeout, or by a spot
// request that waited for its price.
TEST(BootTest, DoesNotCountWhileItWaitsWithoutADeadline) {
  auto held = instance_in(InstanceState::kBooting);
  held.record.deadline = {};
  EXPECT_EQ(boot_of(held, at(1h)), Boot::kUncounted);
  auto spot = instance_in(InstanceState::kRequested);
  spot.listing.shown(listing(CloudState::kRequested), false, at(1s).mono);
  EXPECT_EQ(boot_of(spot, at(1h)), Boot::kUncounted);
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

// Bug: a host whose cards could never be read was a good boot, and plans bought the next one.
TEST(BootTest, IsUnderWayUntilTheToolOfTheHostHasToldItsCards) {
  auto host = instance_in(InstanceState::kIdle);
  (void)host.occupancy.report_cards(failed_reading(), at(1s).mono);
  EXPECT_EQ(boot_of(host, at(1h)), Boot::kUnderWay);
  EXPECT_FALSE(host.takes_work()) << "nothing guards its cards yet";

  auto held = host;
  held.record.health = Health::kBroken;
  EXPECT_EQ(boot_of(held, at(1h)), Boot::kUncounted);

  auto broken = ended(Reason::kBroken, true);
  (void)broken.occupancy.report_cards(failed_reading(), at(1s).mono);
  EXPECT_EQ(boot_of(broken, at(1h)), Boot::kFailed);
  broken.record.first_job = at(1s).wall;
  EXPECT_EQ(boot_of(broken, at(1h)), Boot::kReady) << "it worked before a restart of the daemon";

  (void)host.occupancy.report_cards(reading({card(0)}), at(2s).mono);
  EXPECT_EQ(boot_of(host, at(1h)), Boot::kReady);
}

TEST(BootTest, DoesNotCountWhatHostlerAnAdminOrAReclaimEnded) {
  for (const Reason reason :
       {Reason::kKilled, Reason::kDrained, Reason::kBootingSurplus, Reason::kUnwantedSpot,
        Reason::kDuplicate, Reason::kCapacity, Reason::kInvalid, Reason::kCreateTimeout})
    EXPECT_EQ(boot_of(ended(reason, false), at(1s)), Boot::kUncounted) << to_string(reason);
  Instance reclaimed = ended(Reason::kVanished, false, InstanceState::kGone);
  reclaimed.notices.set_reclaimed();
  EXPECT_EQ(boot_of(reclaimed, at(1s)), Boot::kUncounted);
}

}  // namespace
}  // namespace hostler::fleet

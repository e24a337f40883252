#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/fleet/instances.h"

/// The purpose of the deadline of each state.
namespace hostler::fleet {
namespace {

using testing::StrEq;

TEST(DeadlineTest, EachStateNamesWhatItsDeadlineIsFor) {
  const std::vector<std::pair<InstanceState, const char*>> table{
      {InstanceState::kRequested, "create_again"},
      {InstanceState::kBooting, "boot_timeout"},
      {InstanceState::kUnknown, "adoption_timeout"},
      {InstanceState::kIdle, "rest_from_starts"},
      {InstanceState::kBusy, "rest_from_starts"},
      {InstanceState::kTerminating, "destroy"},
      {InstanceState::kAbandoned, "forget_create"},
      {InstanceState::kVanished, "stop_counting"},
      {InstanceState::kStopped, "stop"},
  };
  for (const auto& [state, purpose] : table) {
    Instance instance;
    instance.record.state = state;
    EXPECT_THAT(purpose_of_deadline(instance), StrEq(purpose)) << model::to_string(state);
  }
}

TEST(DeadlineTest, ItsPurposeFollowsWhatIsKnownOfTheInstance) {
  Instance instance;
  instance.record.state = InstanceState::kRequested;
  instance.creating.outcome_lost();
  EXPECT_THAT(purpose_of_deadline(instance), StrEq("create_timeout"));
  instance.record.provider_id = "i-7";
  EXPECT_THAT(purpose_of_deadline(instance), StrEq("boot_timeout"));
  instance.record.state = InstanceState::kBusy;
  instance.link.set_unreachable(Mono(std::chrono::hours(1)));
  EXPECT_THAT(purpose_of_deadline(instance), StrEq("probe_timeout"));
  instance.record.restored = true;
  EXPECT_THAT(purpose_of_deadline(instance), StrEq("report_of_work"));
  instance.record.restored = false;
  instance.record.state = InstanceState::kVanished;
  (void)instance.listing.stop_counting();
  EXPECT_THAT(purpose_of_deadline(instance), StrEq("forget"));
}

}  // namespace
}  // namespace hostler::fleet

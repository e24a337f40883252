#include "core/fleet/legal.h"

#include "tests/unit/fleet/instances.h"

/// Facts of an instance that cannot be true together end the process.
namespace hostler::fleet {
namespace {

TEST(LegalTest, OnlyAMachineThatMayRunHasALink) {
  for (const auto state : {InstanceState::kRequested, InstanceState::kStopped,
                           InstanceState::kTerminating, InstanceState::kVanished}) {
    Instance instance = instance_in(state);
    instance.link.proved();
    EXPECT_DEATH(assert_legal(instance), "only the host of a machine that may run")
        << to_string(state);
  }
}

TEST(LegalTest, AnAgentThatAnswersIsThatOfAReadyHost) {
  Instance instance = instance_in(InstanceState::kUnknown);
  instance.link.agent_answers(1);
  EXPECT_DEATH(assert_legal(instance), "a host whose agent answers is ready");
}

TEST(LegalTest, AHostThatCannotBeReachedIsNeitherReadyNorHealthy) {
  Instance instance = instance_in(InstanceState::kIdle);
  EXPECT_DEATH(instance.link.set_unreachable(at(1s).mono), "a host that is ready is reachable");
  instance.link.lost();
  instance.link.set_unreachable(at(1s).mono);
  EXPECT_DEATH(assert_legal(instance), "is not healthy");
}

TEST(LegalTest, ACordonNeedsANotice) {
  Instance instance = instance_in(InstanceState::kIdle);
  EXPECT_DEATH(instance.notices.set_cordoned(true), "by a notice that holds");
}

TEST(LegalTest, AHostThatIsLentIsLentOnceAndRunsNoAttempt) {
  const auto lent = [] {
    Instance out = instance_in(InstanceState::kIdle);
    out.occupancy.add(Claim{{7, model::WorkKind::kLease}, {}, true});
    return out;
  };
  assert_legal(lent());
  Instance twice = lent();
  twice.occupancy.add(Claim{{8, model::WorkKind::kLease}, {}, true});
  EXPECT_DEATH(assert_legal(twice), "is lent once, and runs no attempt");
  Instance runs = lent();
  runs.occupancy.add(PlacedAttempt{{{5}, 1}, "boot-1", 1, {}});
  EXPECT_DEATH(assert_legal(runs), "is lent once, and runs no attempt");
}

}  // namespace
}  // namespace hostler::fleet

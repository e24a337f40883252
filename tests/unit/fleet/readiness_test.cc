#include <gmock/gmock.h>

#include "tests/unit/fleet/instances.h"

namespace hostler::fleet {
namespace {

using model::Readiness;
using testing::Contains;
using testing::Not;

model::PoolPolicy pool_of(Readiness readiness) {
  auto out = pool();
  out.readiness = readiness;
  return out;
}

/// Each kind of evidence, given to a booting instance of the pool.
std::vector<Readiness> evidence_that_makes_ready(const model::PoolPolicy& pool) {
  std::vector<Readiness> out;
  const auto try_one = [&](Readiness kind, auto step) {
    Instance instance = instance_in(InstanceState::kBooting);
    step(instance);
    if (instance.record.state == InstanceState::kIdle && instance.link.is_ready())
      out.push_back(kind);
  };
  try_one(Readiness::kSsh, [&](Instance& instance) {
    (void)verified(instance, {model::VerifyMethod::kDriver, "ssh-ed25519 x"}, at(1s));
  });
  try_one(Readiness::kCloud, [&](Instance& instance) {
    (void)listed(instance, listing(CloudState::kRunning), at(1s).mono, pool, at(1s));
  });
  try_one(Readiness::kReported,
          [&](Instance& instance) { (void)reported(instance, pool, at(1s)); });
  return out;
}

TEST(ReadinessTest, OnlyTheEvidenceThatThePoolNamesMakesAHostReady) {
  for (const auto kind : {Readiness::kSsh, Readiness::kCloud, Readiness::kReported})
    EXPECT_THAT(evidence_that_makes_ready(pool_of(kind)), testing::ElementsAre(kind));
  EXPECT_THAT(evidence_that_makes_ready(pool_of(Readiness::kAgent)), testing::IsEmpty());

  Instance instance = instance_in(InstanceState::kBooting);
  (void)ready(instance, {"boot-1", 1, 0, {}}, at(1s));
  EXPECT_EQ(instance.record.state, InstanceState::kIdle);
}

TEST(ReadinessTest, AHostWithoutAnAgentIsReadyAndRunsNoAttempts) {
  Instance instance = instance_in(InstanceState::kBooting);
  (void)verified(instance, {model::VerifyMethod::kDriver, "ssh-ed25519 x"},
                 pool_of(Readiness::kSsh), at(1s));
  EXPECT_TRUE(instance.link.is_ready());
  EXPECT_FALSE(instance.takes_work());
}

TEST(ReadinessTest, AHostIsVerifiedAndReadyInOneStep) {
  Instance instance = instance_in(InstanceState::kBooting);
  instance.record.identity.verified_by.reset();
  (void)verified(instance, {model::VerifyMethod::kDriver, "ssh-ed25519 x"},
                 pool_of(Readiness::kSsh), at(1s));
  EXPECT_EQ(instance.record.identity.public_key, "ssh-ed25519 x");
  EXPECT_EQ(instance.record.ready, at(1s).wall);
}

TEST(ReadinessTest, EvidenceThatComesBackMakesTheHostReachable) {
  const auto pool = pool_of(Readiness::kSsh);
  Instance instance = instance_in(InstanceState::kIdle);
  (void)lost(instance, {"reset"}, pool, at(1s));
  EXPECT_FALSE(instance.link.is_ready());
  const auto out =
      verified(instance, {model::VerifyMethod::kChallenge, instance.record.identity.public_key},
               pool, at(2s));
  EXPECT_TRUE(instance.link.is_ready());
  EXPECT_FALSE(instance.link.unreachable_since());
  EXPECT_EQ(out.event, model::Event::kReachable);
}

// Bug: nothing ended such a host, as it never reported its work.
TEST(ReadinessTest, AHostWithoutAnAgentIsNoLongerOfARestoredStateOnceItIsReady) {
  const auto is_restored_after = [](auto step) {
    Instance instance = instance_in(InstanceState::kUnknown);
    instance.record.restored = true;
    const Outcome out = step(instance);
    EXPECT_TRUE(out.changed);
    return instance.record.restored;
  };
  EXPECT_FALSE(is_restored_after([](Instance& instance) {
    return verified(instance, {model::VerifyMethod::kDriver, "ssh-ed25519 x"},
                    pool_of(Readiness::kSsh), at(1s));
  }));
  EXPECT_FALSE(is_restored_after([](Instance& instance) {
    return reported(instance, pool_of(Readiness::kReported), at(1s));
  }));
  EXPECT_FALSE(is_restored_after([](Instance& instance) {
    return listed(instance, listing(CloudState::kRunning), at(1s).mono, pool_of(Readiness::kCloud),
                  at(1s));
  }));
  EXPECT_TRUE(is_restored_after([](Instance& instance) {
    return ready(instance, {"boot-1", 1, 0, {}}, at(1s));
  })) << "until its work is compared";
}

TEST(ReadinessTest, AListThatWasSentBeforeTheHostWasSwitchedIsNoEvidence) {
  Instance instance = instance_in(InstanceState::kBooting);
  instance.power.changed(at(5s).mono);
  (void)listed(instance, listing(CloudState::kRunning), at(4s).mono, pool_of(Readiness::kCloud),
               at(6s));
  EXPECT_EQ(instance.record.state, InstanceState::kBooting);
}

TEST(ReadinessTest, NobodyConnectsToAHostThatNeedsNoLink) {
  for (const auto kind : {Readiness::kCloud, Readiness::kReported}) {
    Instance instance = instance_in(InstanceState::kRequested);
    auto seen = listing(CloudState::kRunning);
    seen.address = "10.0.0.7";
    EXPECT_THAT(listed(instance, seen, at(1s).mono, pool_of(kind), at(1s)).effects,
                Not(Contains(Effect::kConnect)));
    EXPECT_THAT(adopt(instance, pool_of(kind), 24h, false, at(2s)).effects,
                Not(Contains(Effect::kConnect)));
  }
}

}  // namespace
}  // namespace hostler::fleet

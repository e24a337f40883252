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

/// Its host is proved, and its boot is over.
Outcome come_up(Instance& instance, const model::PoolPolicy& pool, Duration since,
                const std::string& boot_id = "boot-1") {
  (void)verified(instance, {model::VerifyMethod::kDriver, "ssh-ed25519 x"}, pool, at(since));
  return booted(instance, {boot_id}, pool, at(since));
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
  try_one(Readiness::kSsh, [&](Instance& instance) { (void)come_up(instance, pool, 1s); });
  try_one(Readiness::kCloud, [&](Instance& instance) {
    (void)listed(instance, listing(CloudState::kRunning), at(1s).mono, pool, at(1s));
  });
  try_one(Readiness::kReported,
          [&](Instance& instance) { (void)reported(instance, "token ci", pool, at(1s)); });
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

TEST(ReadinessTest, AHostWithoutAnAgentIsReadyToBeLentAndRunsNoAttempts) {
  Instance instance = instance_in(InstanceState::kBooting);
  (void)verified(instance, {model::VerifyMethod::kDriver, "ssh-ed25519 x"}, pool(), at(1s));
  EXPECT_EQ(instance.record.state, InstanceState::kBooting) << "its init command may still run";
  (void)booted(instance, {"boot-1"}, pool_of(Readiness::kSsh), at(2s));
  EXPECT_TRUE(instance.takes_work());
  EXPECT_FALSE(instance.takes_jobs());
  EXPECT_EQ(instance.record.identity.public_key, "ssh-ed25519 x");
  EXPECT_EQ(instance.record.ready, at(2s).wall);
}

TEST(ReadinessTest, ABootThatIsNotProvedIsNoEvidence) {
  Instance instance = instance_in(InstanceState::kBooting);
  (void)booted(instance, {"boot-1"}, pool_of(Readiness::kSsh), at(2s));
  EXPECT_EQ(instance.record.state, InstanceState::kBooting);
}

TEST(ReadinessTest, EvidenceThatComesBackMakesTheHostReachable) {
  const auto pool = pool_of(Readiness::kSsh);
  Instance instance = instance_in(InstanceState::kBooting);
  (void)come_up(instance, pool, 0s);
  (void)lost(instance, {"reset"}, pool, at(1s));
  EXPECT_FALSE(instance.link.is_ready());
  const auto out = come_up(instance, pool, 2s, "boot-2");
  EXPECT_TRUE(instance.link.is_ready());
  EXPECT_FALSE(instance.link.unreachable_since());
  EXPECT_EQ(out.event, model::Event::kReachable);
  EXPECT_EQ(instance.record.boot_id, "boot-2");
}

// Nobody can tell whether it was lent since the backup was made.
TEST(ReadinessTest, AHostWithoutAnAgentStaysOfARestoredStateAndIsLentToNobody) {
  const auto check = [](auto step) {
    Instance instance = instance_in(InstanceState::kUnknown);
    instance.record.restored = true;
    (void)step(instance);
    EXPECT_EQ(instance.record.state, InstanceState::kIdle);
    EXPECT_TRUE(instance.record.restored);
    EXPECT_FALSE(instance.takes_work());
    EXPECT_TRUE(work_reported(instance, pool(), at(2s)).changed) << "its accounts were looked at";
    EXPECT_TRUE(instance.takes_work());
  };
  check([](Instance& instance) { return come_up(instance, pool_of(Readiness::kSsh), 1s); });
  check([](Instance& instance) {
    return reported(instance, "token ci", pool_of(Readiness::kReported), at(1s));
  });
  check([](Instance& instance) {
    return listed(instance, listing(CloudState::kRunning), at(1s).mono, pool_of(Readiness::kCloud),
                  at(1s));
  });
}

TEST(ReadinessTest, AReportSaysWhoMadeItAndHasNoEffectAgain) {
  const auto pool = pool_of(Readiness::kReported);
  Instance instance = instance_in(InstanceState::kBooting);
  const auto first = reported(instance, "token ci", pool, at(1s));
  EXPECT_EQ(first.event, model::Event::kReady);
  EXPECT_EQ(first.reason, "reported by token ci");
  const auto again = reported(instance, "user ann", pool, at(2s));
  EXPECT_FALSE(again.changed);
  EXPECT_FALSE(again.event);
  Instance asked = instance_in(InstanceState::kRequested);
  EXPECT_FALSE(takes_report(asked)) << "its cloud has not shown it yet";
  EXPECT_FALSE(reported(asked, "token ci", pool, at(1s)).changed);
}

TEST(ReadinessTest, AReportStandsOverARestartButNotOverASwitch) {
  const auto pool = pool_of(Readiness::kReported);
  Instance instance = instance_in(InstanceState::kBooting);
  (void)reported(instance, "token ci", pool, at(1s));
  (void)adopt(instance, pool, 24h, false, at(2s));
  ASSERT_EQ(instance.record.state, InstanceState::kUnknown);
  EXPECT_TRUE(awaits_list(instance, pool));
  (void)listed(instance, listing(CloudState::kRunning), at(3s).mono, pool, at(3s));
  EXPECT_EQ(instance.record.state, InstanceState::kIdle);

  instance.record.state = InstanceState::kBooting;  // It was switched off and on.
  (void)listed(instance, listing(CloudState::kRunning), at(4s).mono, pool, at(4s));
  EXPECT_EQ(instance.record.state, InstanceState::kBooting);
}

// A cloud that cannot be listed would cost all that is lent.
TEST(ReadinessTest, WithoutAListAfterARestartAHostThatOnlyListsCanShowIsNotGivenUp) {
  for (const auto kind : {Readiness::kCloud, Readiness::kReported}) {
    const auto pool = pool_of(kind);
    Instance instance = instance_in(InstanceState::kIdle);
    instance.link = {};
    (void)adopt(instance, pool, 24h, false, at(1s));
    EXPECT_THAT(due(instance, pool, at(1h)).effects, testing::ElementsAre(Effect::kList));
    EXPECT_EQ(instance.record.state, InstanceState::kUnknown);
    EXPECT_NE(instance.deadline, kNever);
    (void)listed(instance, listing(CloudState::kPending), at(2h).mono, pool, at(2h));
    EXPECT_EQ(due(instance, pool, at(3h)).reason_code, "not_verified") << "a list has come";
  }
}

TEST(ReadinessTest, AHostWithAttemptsKeepsItsAgentWhateverItsPoolAsksFor) {
  Instance busy = instance_in(InstanceState::kBusy);
  EXPECT_EQ(evidence_of(busy, pool_of(Readiness::kCloud)), Readiness::kAgent);
  EXPECT_THAT(adopt(busy, pool_of(Readiness::kCloud), 24h, true, at(1s)).effects,
              Contains(Effect::kConnect));
  clear(busy);
  EXPECT_EQ(evidence_of(busy, pool_of(Readiness::kCloud)), Readiness::kCloud);
}

TEST(ReadinessTest, ABootingHostSaysWhatItWaitsFor) {
  Instance instance = instance_in(InstanceState::kBooting);
  (void)listed(instance, listing(CloudState::kRunning), at(1s).mono, pool_of(Readiness::kReported),
               at(1s));
  EXPECT_EQ(instance.record.last_text, "report: nobody has reported it as ready yet");
  (void)listed(instance, listing(CloudState::kPending), at(2s).mono, pool_of(Readiness::kCloud),
               at(2s));
  EXPECT_EQ(instance.record.last_text, "list: the cloud shows it as pending");
}

TEST(ReadinessTest, TheSecretsOfACreateAreErasedOnceItsHostIsReadyAlsoIfNobodyProvesIt) {
  Instance instance = instance_in(InstanceState::kBooting);
  ASSERT_FALSE(instance.create_is_over());
  (void)listed(instance, listing(CloudState::kRunning), at(1s).mono, pool_of(Readiness::kCloud),
               at(1s));
  EXPECT_TRUE(instance.create_is_over());
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

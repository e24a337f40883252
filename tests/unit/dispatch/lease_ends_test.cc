#include "tests/unit/dispatch/leases.h"

/// How leases end, and what becomes of their hosts.
namespace hostler::dispatch {
namespace {

constexpr const char* kClean = "rm -rf /scratch/*";

class CleaningTest : public LeaseTest {
 protected:
  CleaningTest() : LeaseTest(site()) {}
  static model::SitePolicy site() {
    auto out = lending_site();
    out.pools[0].leases->clean_command = kClean;
    out.pools[0].sizes.max = 1;
    return out;
  }
  /// Returned, and its cleaning command runs: the number of it.
  std::uint64_t cleaning(WorkId id) {
    EXPECT_TRUE(give_back(id));
    EXPECT_EQ(story.lease_state(id), "ending");
    const auto sent = story.commands<model::RunCommand>();
    EXPECT_THAT(sent, SizeIs(1));
    return sent.empty() ? 0 : sent[0].number;
  }
  void command_ends(InstanceId on, std::uint64_t number, int status) {
    model::CommandEnded end;
    end.number = number;
    end.status = status;
    story.host(on, end);
  }
  void expect_not_clean(WorkId id, InstanceId on) {
    EXPECT_EQ(story.lease_state(id), "ended");
    EXPECT_EQ(reason(id), EndReason::kReturned);
    EXPECT_THAT(story.record(id).reason_text, HasSubstr("its host was not cleaned"));
    EXPECT_EQ(story.state(on), InstanceState::kTerminating);
    EXPECT_EQ(story.record(on).reason_code, model::Reason::kLeaseEnded);
    EXPECT_THAT(story.record(on).reason, HasSubstr("has ended, and its host was not cleaned: "));
  }
};

// Kip, weakness 9: "return unused" was no legal transition.
TEST_F(LeaseTest, AHostThatNobodyHasUsedTakesOtherWorkAtOnce) {
  const auto [id, on] = granted();
  (void)story.submit({story.job(2)});
  story.clear();
  EXPECT_TRUE(give_back(id, false));
  EXPECT_EQ(story.lease_state(id), "ended");
  EXPECT_EQ(reason(id), EndReason::kReturned);
  EXPECT_FALSE(story.journalled<model::LeaseChanged>().back().record.used);
  ASSERT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
  EXPECT_EQ(story.commands<model::StartAttempt>()[0].instance, on);
  EXPECT_EQ(lease_on(on), std::nullopt);
}

TEST_F(LeaseTest, AUsedHostIsDestroyedAndGivenToNobodyElse) {
  const auto [id, on] = granted();
  (void)story.submit({story.job(2)});
  story.clear();
  EXPECT_TRUE(give_back(id));
  EXPECT_EQ(story.lease_state(id), "ended");
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kLeaseEnded);
  ASSERT_THAT(story.all<DestroyCall>(), SizeIs(1));
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
}

TEST_F(LeaseTest, ALeaseEndsWithItsTerm) {
  const auto [id, on] = granted(2h);
  story.pass(2h - 1min);
  EXPECT_EQ(story.lease_state(id), "granted");
  story.pass(2min);
  EXPECT_EQ(story.lease_state(id), "ended");
  EXPECT_EQ(reason(id), EndReason::kTerm);
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
}

TEST_F(LeaseTest, TheTermOfARenewalBeginsWithIt) {
  const auto [id, on] = granted(1h);
  story.pass(50min);
  EXPECT_TRUE(renew(id, 2h));
  EXPECT_EQ(story.journalled<model::LeaseChanged>().back().record.term, 2h);
  story.pass(2h - 1min);
  EXPECT_EQ(story.lease_state(id), "granted");
  story.pass(2min);
  EXPECT_EQ(reason(id), EndReason::kTerm);
}

TEST_F(LeaseTest, AClockThatIsSetEndsNoTerm) {
  const auto [id, on] = granted(1h);
  story.now.wall = story.now.wall + 100h;
  story.pass(30min);
  EXPECT_EQ(story.lease_state(id), "granted");
  story.now.wall = story.now.wall + -200h;
  story.pass(31min);
  EXPECT_EQ(story.lease_state(id), "ended");
}

TEST_F(LeaseTest, ALeaseIsCancelledInEachState) {
  const WorkId waiting = story.borrow(story.lease());
  EXPECT_TRUE(cancel(waiting));
  EXPECT_EQ(reason(waiting), EndReason::kCancelled);
  EXPECT_FALSE(story.dispatcher.queries().waiting(waiting));

  const auto [id, on] = granted();
  EXPECT_TRUE(cancel(id));
  EXPECT_EQ(reason(id), EndReason::kCancelled);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kLeaseEnded);
}

TEST_F(CleaningTest, ACleanHostTakesOtherWork) {
  const auto [id, on] = granted();
  (void)story.submit({story.job(2)});
  story.clear();
  const auto number = cleaning(id);
  const auto sent = story.commands<model::RunCommand>().at(0);
  EXPECT_EQ(sent.instance, on);
  EXPECT_EQ(sent.command.input, kClean);
  EXPECT_EQ(sent.proposal, 0U) << "no link has proposed it";
  EXPECT_EQ(lease_on(on), id) << "it is lent until it is clean";
  EXPECT_THAT(story.ledger(), Contains(on.text() + " command_started 1"));
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());

  command_ends(on, number, 0);
  EXPECT_EQ(story.lease_state(id), "ended");
  EXPECT_EQ(reason(id), EndReason::kReturned);
  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
}

TEST_F(CleaningTest, AHostWhoseCleaningFailsIsDestroyed) {
  const auto [id, on] = granted();
  story.clear();
  command_ends(on, cleaning(id), 1);
  expect_not_clean(id, on);
}

TEST_F(CleaningTest, AHostThatIsLostWhileItIsCleanedIsDestroyed) {
  const auto [id, on] = granted();
  story.clear();
  (void)cleaning(id);
  story.host(on, model::HostLost{"reset", 0s});
  expect_not_clean(id, on);
}

TEST_F(CleaningTest, AHostWhoseCleaningHangsIsDestroyed) {
  const auto [id, on] = granted();
  story.clear();
  (void)cleaning(id);
  story.pass(9min);
  EXPECT_EQ(story.lease_state(id), "ending");
  story.pass(2min);
  expect_not_clean(id, on);
}

TEST_F(CleaningTest, AHostThatIsNotConnectedIsNotCleanedButDestroyed) {
  const auto [id, on] = granted();
  story.host(on, model::HostLost{"reset", 0s});
  story.clear();
  EXPECT_TRUE(give_back(id));
  EXPECT_THAT(story.commands<model::RunCommand>(), IsEmpty());
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
}

TEST_F(CleaningTest, AnUnusedHostIsNotCleaned) {
  const auto [id, on] = granted();
  EXPECT_TRUE(give_back(id, false));
  EXPECT_THAT(story.commands<model::RunCommand>(), IsEmpty());
  EXPECT_EQ(story.state(on), InstanceState::kIdle);
}

// Bug: it was as good as new then, with all that the holder had left there.
TEST_F(LeaseTest, AHostThatIsFoundAgainAfterItsLeaseIsGivenToNobodyElse) {
  const auto [id, on] = granted();
  const auto shown = story.seen(on);
  story.host(on, model::HostLost{"no route", 0s});
  for (int n = 0; n < 2; ++n) story.list({story.seen(on, model::CloudState::kGone)});
  ASSERT_EQ(story.state(on), InstanceState::kVanished);
  ASSERT_EQ(reason(id), EndReason::kHostLost);
  EXPECT_EQ(story.record(on).health, model::Health::kBroken);

  (void)story.submit({story.job(2)});
  story.list({shown});
  ASSERT_EQ(story.state(on), InstanceState::kUnknown);
  story.clear();
  story.host(on, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  story.ready(on);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
}

class KeptOffTest : public LeaseTest {
 protected:
  KeptOffTest() : LeaseTest(site()) {}
  static model::SitePolicy site() {
    auto out = lending_site();
    out.pools[0].sizes.max = out.pools[0].sizes.stopped = 1;
    return out;
  }
  void SetUp() override {
    story.restore();
    model::SetInfo info;
    info.list_consistency = 100ms;
    info.stop = info.has_power = true;
    story.say(SetOpened{"west", info});
  }
};

// Bug: it was switched on for the next job, likewise.
TEST_F(KeptOffTest, AHostThatItsHolderHasSwitchedOffIsDestroyed) {
  const auto [id, on] = granted();
  story.host(on, model::HostLost{"reset", 0s});
  (void)story.submit({story.job(2)});
  for (int n = 0; n < 2; ++n) story.list({story.seen(on, model::CloudState::kStopped)});
  EXPECT_EQ(reason(id), EndReason::kHostLost);
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kLeaseEnded);
}

// Bug: a holder that had stopped the agent lost the host.
TEST_F(LeaseTest, ALentHostIsKeptWhileItsPortAnswers) {
  const auto [id, on] = granted(3h);
  const auto try_to_connect = [this, on = on] {
    story.host(on, model::HostLost{"reset", 0s});
    story.pass(8min);
    story.host(on, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
    story.host(on, model::HostNotYet{"agent", "cannot be started"});
  };
  for (int n = 0; n < 5; ++n) try_to_connect();
  EXPECT_EQ(story.lease_state(id), "granted");
  EXPECT_EQ(story.state(on), InstanceState::kBusy);

  story.host(on, model::HostLost{"reset", 0s});
  story.pass(11min);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kUnreachable) << "now it does not";
}

TEST_F(LeaseTest, ADrainedHostGoesWhenItsLeaseEnds) {
  const auto [id, on] = granted();
  EXPECT_TRUE(story.ask(SetIdleBehavior{0, "admin", on, model::IdleBehavior::kDrain}));
  EXPECT_EQ(story.lease_state(id), "granted");
  EXPECT_TRUE(give_back(id, false));
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kDrained);
}

TEST_F(LeaseTest, AUsedHostThatAnAdminHoldsGetsNoWorkAndGoesAfterTheHold) {
  const auto [id, on] = granted();
  EXPECT_TRUE(story.ask(SetIdleBehavior{0, "admin", on, model::IdleBehavior::kHold}));
  story.clear();
  EXPECT_TRUE(give_back(id));
  EXPECT_EQ(story.lease_state(id), "ended");
  EXPECT_EQ(story.state(on), InstanceState::kIdle);
  EXPECT_EQ(story.record(on).health, model::Health::kBroken);

  (void)story.submit({story.job(2)});
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  EXPECT_TRUE(story.ask(SetIdleBehavior{0, "admin", on, model::IdleBehavior::kRun}));
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
}

TEST_F(LeaseTest, ACordonedHostKeepsItsLeaseUntilItIsGone) {
  const auto [id, on] = granted();
  story.host(on, model::HostInterruption{"spot", story.now.wall + 20min,
                                         model::InterruptionAction::kTerminate});
  story.pass(12min);
  EXPECT_TRUE(story.dispatcher.queries().instance(on, story.now)->cordoned);
  EXPECT_EQ(story.lease_state(id), "granted");
  vanishes(on);
  EXPECT_EQ(story.lease_state(id), "ended");
  EXPECT_EQ(reason(id), EndReason::kInterrupted);
}

TEST_F(LeaseTest, AnAttemptThatALentHostReportsIsEnded) {
  const auto [id, on] = granted();
  story.clear();
  story.ready(on, {{{{5}, 1}, model::AttemptPhase::kRunning}});
  EXPECT_THAT(story.commands<model::KillAttempt>(), SizeIs(1));
  EXPECT_EQ(lease_on(on), id);
}

// Bug: it was granted for a time that its pool does not lend for any more.
TEST_F(LeaseTest, ALeaseThatWaitsLongerThanItsPoolLendsForEnds) {
  const WorkId is_short = story.borrow(story.lease(1h)), is_long = story.borrow(story.lease(4h));
  policy.pools[0].leases->max_term = 2h;
  reload();
  EXPECT_EQ(story.lease_state(is_short), "waiting");
  EXPECT_EQ(reason(is_long), EndReason::kCancelled);
  EXPECT_EQ(story.record(is_long).reason_text,
            "by the configuration: pool default lends hosts for at most 2 h");

  policy.pools[0].leases.reset();
  reload();
  EXPECT_EQ(reason(is_short), EndReason::kCancelled);
}

TEST_F(LeaseTest, ALeaseThatWaitsGoesToThePoolsThatLendForSoLongStill) {
  auto other = policy.pools[0];
  other.name = "other";
  policy.pools.push_back(other);
  policy.pools[0].sizes.max = policy.pools[1].sizes.max = 1;
  reload();
  (void)granted(4h);
  (void)granted(4h);
  const WorkId id = story.borrow(story.lease(4h));
  policy.pools[0].leases->max_term = 1h;
  policy.pools[0].sizes.max = policy.pools[1].sizes.max = 2;
  story.clear();
  reload();
  EXPECT_EQ(story.lease_state(id), "waiting");
  const auto bought = story.all<CreateCall>();
  ASSERT_THAT(bought, SizeIs(1));
  EXPECT_EQ(story.record(bought[0].instance).pool, "other");
}

TEST_F(LeaseTest, APoolThatLendsNoMoreLeavesLeasesTheirTerms) {
  const auto [id, on] = granted();
  const InstanceId idle = idle_host();
  policy.pools[0].leases.reset();
  reload();
  EXPECT_EQ(story.lease_state(id), "granted");
  EXPECT_EQ(renew(id, 1h).error().message, "pool default does not lend hosts (pools[].leases)");
  EXPECT_EQ(lease_on(idle), std::nullopt);
  story.pass(2h);
  EXPECT_EQ(reason(id), EndReason::kTerm);
}

}  // namespace
}  // namespace hostler::dispatch

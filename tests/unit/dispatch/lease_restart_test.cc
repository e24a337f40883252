#include "tests/unit/dispatch/lease_rows.h"

/// Leases over restarts, and after a backup was put back.
namespace hostler::dispatch {
namespace {

class LeaseRestartTest : public LeaseTest {
 protected:
  void SetUp() override {}  // Each begins with its own rows.
  model::Restored site(WorkState state) const { return lease_rows(state, story.now.wall); }
  void prove() { prove_host(story); }
  /// The lease and the one after it are a gang.
  model::Restored gang_site(WorkState state) const {
    auto out = site(state);
    out.work[0].shape.gang = {kLease.value, 2, false};
    out.work.push_back(out.work[0]);
    out.work[1].record.id = kNext;
    out.work[1].arrival = 4;
    out.leases.push_back(out.leases[0]);
    out.leases[1].id = kNext;
    return out;
  }
  static constexpr WorkId kNext{4, model::WorkKind::kLease};
};

TEST_F(LeaseRestartTest, AGrantedLeaseKeepsItsHostAndTheRestOfItsTerm) {
  story.begin(site(WorkState::kRunning));
  EXPECT_EQ(lease_on(kHost), kLease);
  EXPECT_EQ(story.state(kHost), InstanceState::kUnknown);
  ASSERT_THAT(story.commands<model::ConnectHost>(), SizeIs(1));
  EXPECT_EQ(story.dispatcher.queries().quota("user ann", story.now.mono).running_vcpus,
            model::Vcpus(2));

  prove();
  EXPECT_EQ(story.state(kHost), InstanceState::kBusy);
  (void)story.submit({story.job()});
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  story.pass(89min);
  EXPECT_EQ(story.lease_state(kLease), "granted");
  story.pass(2min);
  EXPECT_EQ(reason(kLease), EndReason::kTerm);
  EXPECT_EQ(story.record(kHost).reason_code, model::Reason::kLeaseEnded);
}

TEST_F(LeaseRestartTest, ALentHostThatDoesNotAnswerIsGivenUpAsOneWithJobs) {
  story.begin(site(WorkState::kRunning));
  story.pass(11min);
  EXPECT_EQ(story.state(kHost), InstanceState::kBusy) << "it is unreachable";
  EXPECT_EQ(story.lease_state(kLease), "granted");
  story.pass(20min);
  EXPECT_EQ(story.record(kHost).reason_code, model::Reason::kUnreachable);
}

TEST_F(LeaseRestartTest, ALentHostWhoseAgentIsStoppedIsKeptWhileItsPortAnswers) {
  story.begin(site(WorkState::kRunning));
  for (int n = 0; n < 8; ++n) {
    story.host(kHost, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
    story.host(kHost, model::HostNotYet{"agent", "cannot be started"});
    story.host(kHost, model::HostLost{"reset", 0s});
    story.pass(8min);
  }
  EXPECT_EQ(story.lease_state(kLease), "granted");
  EXPECT_EQ(story.state(kHost), InstanceState::kBusy);
}

TEST_F(LeaseRestartTest, AGrantThatTheRestartCameBetweenIsFinished) {
  story.begin(site(WorkState::kStarting));
  EXPECT_EQ(lease_on(kHost), kLease);
  EXPECT_EQ(story.lease_state(kLease), "granting") << "the host is not proved";
  prove();
  EXPECT_EQ(story.lease_state(kLease), "granted");
}

// Bug: it was granting for ever, as nothing connects to such a host.
TEST_F(LeaseRestartTest, AGrantOnAHostWithoutAConnectionIsFinishedAtOnce) {
  for (const auto kind : {model::Readiness::kCloud, model::Readiness::kReported}) {
    policy.pools[0].readiness = kind;
    Story other(policy);
    other.begin(site(WorkState::kStarting));
    EXPECT_EQ(other.lease_state(kLease), "granted");
  }
}

// Bug: it said that the instance is gone.
TEST_F(LeaseRestartTest, ALeaseWhoseHostHasOtherWorkSaysSo) {
  auto rows = site(WorkState::kRunning);
  rows.work.push_back(rows.work[0]);
  rows.leases.push_back(rows.leases[0]);
  rows.work[1].record.id.value = rows.leases[1].id.value = 4;
  rows.work[1].arrival = 4;
  story.begin(std::move(rows));
  EXPECT_EQ(lease_on(kHost), kLease);
  const WorkId second{4, model::WorkKind::kLease};
  EXPECT_EQ(reason(second), EndReason::kHostLost);
  EXPECT_EQ(story.record(second).reason_text, "other work is on h-7: the rows of both name it");
}

TEST_F(LeaseRestartTest, ALeaseWhoseHostIsNotKnownIsLostOrWaitsAgain) {
  for (const auto state : {WorkState::kRunning, WorkState::kStarting}) {
    auto rows = site(state);
    rows.instances.clear();
    Story other(policy);
    other.begin(std::move(rows));
    if (state == WorkState::kRunning)
      EXPECT_EQ(other.record(kLease).reason, EndReason::kHostLost);
    else
      EXPECT_EQ(other.lease_state(kLease), "waiting");
  }
}

// Kip, weakness 8: a restart took nodes that were being cleaned for clean ones.
TEST_F(LeaseRestartTest, AHostIsDestroyedWhoseCleaningWasUnderWay) {
  story.begin(site(WorkState::kCollecting));
  EXPECT_EQ(story.lease_state(kLease), "ended");
  EXPECT_EQ(story.record(kHost).reason_code, model::Reason::kLeaseEnded);
}

TEST_F(LeaseRestartTest, AWaitingLeaseWaitsOnAtItsPlace) {
  auto rows = site(WorkState::kQueued);
  rows.leases[0].wait_max = 1h;
  story.begin(std::move(rows));
  EXPECT_EQ(story.lease_state(kLease), "waiting");
  EXPECT_EQ(story.borrow(story.lease(), "user bob").text(), "l-6");
  prove();
  EXPECT_EQ(lease_on(kHost), kLease);
}

TEST_F(LeaseRestartTest, ItsWaitBeganWithTheSubmit) {
  auto rows = site(WorkState::kQueued);
  rows.leases[0].wait_max = 35min;
  story.begin(std::move(rows));
  EXPECT_EQ(story.lease_state(kLease), "waiting");
  story.pass(5min);
  EXPECT_EQ(reason(kLease), EndReason::kWaitMax);
}

TEST_F(LeaseRestartTest, AClientKeyNamesItsLeaseAfterARestart) {
  auto rows = site(WorkState::kRunning);
  rows.client_keys = {{"user ann", "k", "d", kLease}};
  story.begin(std::move(rows));
  auto wish = story.lease();
  wish.work.client_key = "k";
  wish.work.client_digest = "d";
  EXPECT_EQ(story.borrow(wish), kLease);
}

TEST_F(LeaseRestartTest, AfterARestoreALentHostIsGivenToNobodyElse) {
  story.begin(restored_site(site(WorkState::kRunning)));
  EXPECT_EQ(lease_on(kHost), kLease);
  (void)story.submit({story.job()});
  prove();
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  EXPECT_EQ(story.lease_state(kLease), "granted");
  story.pass(91min);
  EXPECT_EQ(reason(kLease), EndReason::kTerm);
}

TEST_F(LeaseRestartTest, AfterARestoreAHostThatHasNotReportedIsNotDestroyedWhenTheTermEnds) {
  story.begin(restored_site(site(WorkState::kRunning)));
  story.pass(91min);
  EXPECT_EQ(reason(kLease), EndReason::kTerm);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  EXPECT_EQ(story.record(kHost).health, model::Health::kBroken) << "nobody else gets it";
}

// Bug: it took work as soon as its agent had reported, which knows of no leases.
TEST_F(LeaseRestartTest, AfterARestoreAnEmptyHostIsHeldAsItMayHaveBeenLentSinceTheBackup) {
  auto rows = site(WorkState::kQueued);
  rows.work.clear();
  rows.leases.clear();
  story.begin(restored_site(std::move(rows)));
  const WorkId id = story.borrow(story.lease());
  prove();
  EXPECT_EQ(story.state(kHost), InstanceState::kIdle);
  EXPECT_EQ(story.record(kHost).idle_behavior, model::IdleBehavior::kHold);
  EXPECT_EQ(story.lease_state(id), "waiting");

  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "user root", kHost, model::IdleBehavior::kRun}));
  EXPECT_EQ(lease_on(kHost), id);
}

// Bug: the host was destroyed with them at the end of the term.
TEST_F(LeaseRestartTest, AfterARestoreAHostWithAttemptsThatAreLeftAloneOutlivesItsLease) {
  story.begin(restored_site(site(WorkState::kRunning)));
  story.host(kHost, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  story.ready(kHost, {{{kForeign, 1}, model::AttemptPhase::kRunning}});
  EXPECT_EQ(lease_on(kHost), kLease);
  story.pass(91min);
  EXPECT_EQ(reason(kLease), EndReason::kTerm);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  EXPECT_EQ(story.record(kHost).health, model::Health::kBroken) << "nobody else gets it";
}

/// The answer of h-7 to the question which accounts of leases it has.
void has_accounts(Story& story, const std::string& names) {
  const auto asked = story.commands<model::RunCommand>();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].command.purpose, "find accounts");
  model::CommandEnded end;
  end.number = asked[0].number;
  end.status = 0;
  end.output = names;
  story.host(kHost, end);
}

TEST_F(LeaseRestartTest, AfterARestoreALeaseThatIsNotKnownKeepsTheHostThatHasItsAccount) {
  auto rows = site(WorkState::kQueued);
  rows.work.clear();
  rows.leases.clear();
  story.begin(restored_site(std::move(rows)));
  prove();
  has_accounts(story, "no account\nhostler-l77\nhostler-l9999999\n");
  const WorkId unknown{77, model::WorkKind::kLease};
  EXPECT_EQ(lease_on(kHost), unknown);
  EXPECT_EQ(story.lease_state(unknown), "granted");
  EXPECT_EQ(story.state(kHost), InstanceState::kBusy);
  EXPECT_THAT(story.ledger(), Contains("l-77 taken_over"));
  const auto made = story.journalled<model::WorkItem>();
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_EQ(made[0].principal, "unknown (restored)");
  const auto terms = story.journalled<model::LeaseChanged>().back().record;
  EXPECT_EQ(terms.login, model::Login::kUser) << "its host is destroyed at the end";
  EXPECT_EQ(terms.term, 8h) << "as long as its pool lends hosts";
  EXPECT_FALSE(renew(unknown, 1h)) << "nobody knows its holder";
  EXPECT_TRUE(story.ask(RenewLease{0, "user root", true, unknown, 1h}));
  EXPECT_FALSE(story.record(unknown).restored) << "an admin has decided";
}

// Bug: its user was said to be hostler-l77, which is no account there.
TEST_F(LeaseRestartTest, AfterARestoreALeaseOfAPoolThatLendsRootIsTakenOverAsRoot) {
  policy.pools[0].leases->login = model::Login::kRoot;
  Story other(policy);
  auto rows = site(WorkState::kQueued);
  rows.work.clear();
  rows.leases.clear();
  other.begin(restored_site(std::move(rows)));
  prove_host(other);
  has_accounts(other, "hostler-l77\n");
  EXPECT_EQ(other.lease_state({77, model::WorkKind::kLease}), "granted");
  EXPECT_EQ(other.journalled<model::LeaseChanged>().back().record.login, model::Login::kRoot);
}

TEST_F(LeaseRestartTest, AfterARestoreALeaseThatWaitedKeepsTheHostThatHasItsAccount) {
  story.begin(restored_site(site(WorkState::kHeld)));
  prove();
  has_accounts(story, "hostler-l3\n");
  EXPECT_EQ(lease_on(kHost), kLease);
  EXPECT_EQ(story.lease_state(kLease), "granted");
  EXPECT_TRUE(story.record(kLease).restored);
  EXPECT_TRUE(renew(kLease, 1h));
  EXPECT_FALSE(story.record(kLease).restored) << "its holder has decided";
}

// Bug: it was not asked, and destroyed at the end of the term of the lease before.
TEST_F(LeaseRestartTest, AfterARestoreAHostThatWasLentAnewSinceTheBackupIsItsNewHolders) {
  for (const auto state : {WorkState::kStarting, WorkState::kRunning}) {
    Story other(policy);
    other.begin(restored_site(site(state)));
    prove_host(other);
    has_accounts(other, "hostler-l77\n");
    const WorkId unknown{77, model::WorkKind::kLease};
    EXPECT_EQ(other.dispatcher.queries().instance(kHost, other.now)->lease, unknown);
    EXPECT_EQ(other.lease_state(unknown), "granted");
    EXPECT_EQ(other.lease_state(kLease), "ended");
    EXPECT_EQ(other.record(kLease).reason, EndReason::kHostLost);
    EXPECT_EQ(other.record(kLease).reason_text, "h-7 has been lent to l-77 since");
    EXPECT_EQ(other.dispatcher.queries().quota("user ann", other.now.mono).running_vcpus,
              model::Vcpus(0));
    other.pass(2h);
    EXPECT_EQ(other.lease_state(unknown), "granted") << "the term of l-3 does not end it";
  }
}

TEST_F(LeaseRestartTest, AfterARestoreALeaseThatHasItsAccountKeepsItsHost) {
  auto rows = site(WorkState::kRunning);
  rows.leases[0].ssh_keys = {"ssh-ed25519 AAAA"};
  rows.leases[0].login = model::Login::kUser;
  story.begin(restored_site(std::move(rows)));
  prove();
  has_accounts(story, "hostler-l3\nhostler-l77\n");
  EXPECT_EQ(lease_on(kHost), kLease);
  EXPECT_EQ(story.lease_state(kLease), "granted");
}

TEST_F(LeaseRestartTest, AHostThatIsNotOfARestoredStateIsNotAskedForAccounts) {
  auto rows = site(WorkState::kQueued);
  rows.work.clear();
  rows.leases.clear();
  story.begin(std::move(rows));
  prove();
  EXPECT_THAT(story.commands<model::RunCommand>(), IsEmpty());
}

TEST_F(LeaseRestartTest, AfterARestoreAWaitingLeaseIsHeldUntilItIsReleased) {
  auto rows = restored_site(site(WorkState::kHeld));
  rows.work[0].record.reason_text = "it waited";
  story.begin(std::move(rows));
  EXPECT_EQ(story.lease_state(kLease), "held");
  EXPECT_EQ(story.dispatcher.queries().waiting(kLease)->code, model::WaitingCode::kHeld);
  ASSERT_TRUE(story.ask(ReleaseWork{0, "user root", kLease}));
  EXPECT_EQ(story.lease_state(kLease), "waiting");
}

// Bug: the others kept their hosts and were granting for ever.
TEST_F(LeaseRestartTest, AfterARestoreAGangOfWhichOneCannotBeGrantedIsHeldWhole) {
  auto rows = gang_site(WorkState::kStarting);
  rows.work[1].record.instance = {6};  // Nobody knows it.
  story.begin(restored_site(std::move(rows)));
  EXPECT_EQ(story.lease_state(kNext), "held");
  EXPECT_EQ(story.lease_state(kLease), "held");
  EXPECT_EQ(lease_on(kHost), std::nullopt);
}

// A set was stopped when the other lease of the gang had to wait again, and the daemon ended then.
TEST_F(LeaseRestartTest, AfterARestartALeaseLetsItsHostGoIfAnotherOneOfItsGangWaits) {
  auto rows = gang_site(WorkState::kStarting);
  rows.work[1].record.state = WorkState::kQueued;
  rows.work[1].record.instance = {};
  story.begin(std::move(rows));
  EXPECT_EQ(story.lease_state(kLease), "granting");
  prove();
  EXPECT_EQ(story.lease_state(kLease), "waiting");
  EXPECT_EQ(lease_on(kHost), std::nullopt);
}

TEST_F(LeaseRestartTest, AfterARestartAGangHoldsItsHostsAgain) {
  story.begin(gang_site(WorkState::kQueued));
  prove();
  (void)story.submit({story.job()});
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty()) << "the host is held";
  EXPECT_EQ(story.lease_state(kLease), "waiting");
  EXPECT_EQ(story.lease_state(kNext), "waiting");
}

TEST_F(LeaseRestartTest, AllThatIsHeldIsReleasedOrCancelledTogether) {
  for (const bool cancels : {false, true}) {
    auto rows = site(WorkState::kHeld);
    rows.work.push_back(job(WorkState::kHeld));
    Story other(policy);
    other.begin(restored_site(std::move(rows)));
    const auto answer = cancels ? other.ask(CancelHeld{0, "user root"})
                                : other.ask(ReleaseWork{0, "user root", {}});
    ASSERT_TRUE(answer);
    EXPECT_THAT(*answer, testing::UnorderedElementsAre(kLease, WorkId{5}));
    EXPECT_EQ(other.lease_state(kLease), cancels ? "ended" : "waiting");
  }
}

}  // namespace
}  // namespace hostler::dispatch

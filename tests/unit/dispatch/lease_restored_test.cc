#include "tests/unit/dispatch/lease_rows.h"

/// Leases after a backup was put back, and on hosts that no row knows.
namespace hostler::dispatch {
namespace {

using testing::ElementsAre;

constexpr WorkId kOther{4, model::WorkKind::kLease};

class LeaseRestoredTest : public LeaseTest {
 protected:
  void SetUp() override {}  // Each begins with its own rows.
  model::Restored site(WorkState state) const { return lease_rows(state, story.now.wall); }
  void prove() { prove_host(story); }
  /// The purposes of the commands that close accounts.
  std::vector<std::string> closed() const {
    std::vector<std::string> out;
    for (const auto& run : story.commands<model::RunCommand>())
      if (run.command.purpose.starts_with("close")) out.push_back(run.command.purpose);
    return out;
  }
  void connect_again() {
    story.host(kHost, model::HostLost{"reset", 0s});
    story.ready(kHost);
  }
};

TEST_F(LeaseRestoredTest, AfterARestoreALentHostIsGivenToNobodyElse) {
  story.begin(restored_site(site(WorkState::kRunning)));
  EXPECT_EQ(lease_on(kHost), kLease);
  (void)story.submit({story.job()});
  prove();
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  EXPECT_EQ(story.lease_state(kLease), "granted");
  story.pass(91min);
  EXPECT_EQ(reason(kLease), EndReason::kTerm);
}

TEST_F(LeaseRestoredTest, AfterARestoreAHostThatHasNotReportedIsNotDestroyedWhenTheTermEnds) {
  story.begin(restored_site(site(WorkState::kRunning)));
  story.pass(91min);
  EXPECT_EQ(reason(kLease), EndReason::kTerm);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  EXPECT_EQ(story.record(kHost).health, model::Health::kBroken) << "nobody else gets it";
}

// Bug: it was cleaned or destroyed while the next holder used it, or given to somebody else.
TEST_F(LeaseRestoredTest, AfterARestoreAHostIsHeldAtTheEndOfALeaseWithoutALogin) {
  policy.pools[0].leases->clean_command = "wipe";
  for (const bool is_returned : {false, true}) {
    Story other(policy);
    other.begin(restored_site(site(WorkState::kRunning)));
    prove_host(other);
    other.clear();
    if (is_returned)
      EXPECT_TRUE(other.ask(ReturnLease{0, "user ann", false, kLease, false}));
    else
      other.pass(91min);
    EXPECT_EQ(other.lease_state(kLease), "ended");
    EXPECT_THAT(other.commands<model::RunCommand>(), IsEmpty());
    EXPECT_THAT(other.all<DestroyCall>(), IsEmpty());
    EXPECT_EQ(other.record(kHost).idle_behavior, model::IdleBehavior::kHold);
  }
}

// Bug: it was lent again while its holder used it.
TEST_F(LeaseRestoredTest, AHostThatTheJournalDoesNotKnowIsHeldAsItMayBeLent) {
  policy.pools[0].readiness = model::Readiness::kCloud;
  Story other(policy);
  other.begin();
  model::ListedInstance shown;
  shown.id = "i-900";
  shown.idempotency_key = "lost-key";
  shown.set_id = "west";
  shown.owner = "us";
  shown.address = "10.0.0.9";
  shown.state = model::CloudState::kRunning;
  shown.pool = "default";
  shown.type = "small";
  shown.idle = "run";
  other.list({shown});
  EXPECT_EQ(other.state(InstanceId{1}), InstanceState::kIdle);
  EXPECT_EQ(other.record(InstanceId{1}).idle_behavior, model::IdleBehavior::kHold);
  EXPECT_EQ(other.lease_state(other.borrow(other.lease())), "waiting");
}

// Bug: it took work as soon as its agent had reported, which knows of no leases.
TEST_F(LeaseRestoredTest, AfterARestoreAnEmptyHostIsHeldAsItMayHaveBeenLentSinceTheBackup) {
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
TEST_F(LeaseRestoredTest, AfterARestoreAHostWithAttemptsThatAreLeftAloneOutlivesItsLease) {
  story.begin(restored_site(site(WorkState::kRunning)));
  story.host(kHost, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  story.ready(kHost, {{{kForeign, 1}, model::AttemptPhase::kRunning}});
  EXPECT_EQ(lease_on(kHost), kLease);
  story.pass(91min);
  EXPECT_EQ(reason(kLease), EndReason::kTerm);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  EXPECT_EQ(story.record(kHost).health, model::Health::kBroken) << "nobody else gets it";
}

// Bug: its holder kept the host after the term, by an attempt that never was.
TEST_F(LeaseRestoredTest, AHostThatInventsAttemptsWhileItIsLentIsDestroyedWhenTheTermEnds) {
  const WorkId never{9 * kLeftOut};
  for (const bool runs : {true, false}) {
    Story other(policy);
    auto rows = site(WorkState::kRunning);
    rows.epoch = 5;
    other.begin(std::move(rows));
    other.host(kHost, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
    other.ready(kHost,
                {{{never, 1}, runs ? model::AttemptPhase::kRunning : model::AttemptPhase::kEnded}});
    EXPECT_EQ(other.lease_state(kLease), "granted");
    EXPECT_THAT(other.commands<model::KillAttempt>(), SizeIs(runs ? 1 : 0));
    EXPECT_THAT(other.commands<model::AckAttempt>(), SizeIs(runs ? 0 : 1));
    other.pass(91min);
    EXPECT_EQ(other.record(kLease).reason, EndReason::kTerm);
    EXPECT_EQ(other.state(kHost), InstanceState::kTerminating);
  }
}

TEST_F(LeaseRestoredTest, AfterARestoreALeaseThatIsNotKnownKeepsTheHostThatHasItsAccount) {
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

// Bug: a second row of that number stopped the daemon, again after each start.
TEST_F(LeaseRestoredTest, AfterARestoreANumberIsOfOnePieceOfWorkWhateverAHostReports) {
  for (const bool was_known : {true, false}) {
    Story other(policy);
    auto rows = site(WorkState::kQueued);
    rows.work.clear();
    rows.leases.clear();
    rows = restored_site(std::move(rows));
    if (was_known) rows.damaged.push_back({"work", "l-77", "state is 99", {}});
    other.begin(std::move(rows));
    prove_host(other);
    if (!was_known) {
      other.ready(kHost, {{{kForeign, 1}, model::AttemptPhase::kRunning}});
      other.exited(kHost, kForeign);
      EXPECT_EQ(other.record(kForeign).state, WorkState::kSucceeded);
      other.clear();
      other.ready(kHost);
    }
    has_accounts(other, "hostler-l77\n");
    EXPECT_THAT(other.journalled<model::LeaseChanged>(), IsEmpty());
    EXPECT_FALSE(other.dispatcher.queries().instance(kHost, other.now)->lease);
  }
}

// Bug: its user was said to be hostler-l77, which is no account there.
TEST_F(LeaseRestoredTest, AfterARestoreALeaseOfAPoolThatLendsRootIsTakenOverAsRoot) {
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

TEST_F(LeaseRestoredTest, AfterARestoreALeaseThatWaitedKeepsTheHostThatHasItsAccount) {
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
TEST_F(LeaseRestoredTest, AfterARestoreAHostThatWasLentAnewSinceTheBackupIsItsNewHolders) {
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

// Bug: a host that lied took each held lease in its turn, and so ended the one before it.
TEST_F(LeaseRestoredTest, AfterARestoreAHostTakesOverOneLeaseAtMost) {
  auto rows = site(WorkState::kHeld);
  rows.work.push_back(rows.work[0]);
  rows.leases.push_back(rows.leases[0]);
  rows.work[1].record.id = rows.leases[1].id = kOther;
  story.begin(restored_site(std::move(rows)));
  prove();
  has_accounts(story, "hostler-l3\n");
  EXPECT_EQ(lease_on(kHost), kLease);
  story.clear();
  connect_again();
  EXPECT_THAT(story.commands<model::RunCommand>(), IsEmpty());

  EXPECT_TRUE(cancel(kLease));
  story.host(kHost, model::HostLost{"reset", 0s});
  EXPECT_EQ(story.lease_state(kLease), "ended");
  story.clear();
  connect_again();
  has_accounts(story, "hostler-l4\n");
  EXPECT_EQ(story.lease_state(kOther), "held");
  EXPECT_EQ(lease_on(kHost), std::nullopt);
}

// Bug: it claimed a held lease, while an admin held the host after a lease of its own.
TEST_F(LeaseRestoredTest, AHostThatWasMadeAfterTheRestoreTakesNoLeaseOver) {
  auto rows = restored_site(site(WorkState::kHeld));
  auto& host = rows.instances[0].record;
  host.state = InstanceState::kIdle;
  host.restored = false;
  host.epoch = rows.restored_epoch;
  host.health = model::Health::kBroken;
  host.idle_behavior = model::IdleBehavior::kHold;
  story.begin(std::move(rows));
  prove();
  has_accounts(story, "hostler-l3\n");
  EXPECT_EQ(story.lease_state(kLease), "held");
  EXPECT_EQ(lease_on(kHost), std::nullopt);
}

// Bug: it was healthy, and an admin's "run" gave it to the next user.
TEST_F(LeaseRestoredTest, AfterARestoreAHostWithTheAccountOfACancelledLeaseIsGivenToNobody) {
  story.begin(restored_site(site(WorkState::kHeld)));
  EXPECT_TRUE(cancel(kLease));
  prove();
  has_accounts(story, "hostler-l3\n");
  EXPECT_THAT(closed(), ElementsAre("close hostler-l3 as hostler-l3"));
  EXPECT_EQ(story.record(kHost).health, model::Health::kBroken);
  EXPECT_EQ(story.state(kHost), InstanceState::kIdle) << "an admin decides";

  const WorkId next = story.borrow(story.lease());
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "user root", kHost, model::IdleBehavior::kRun}));
  EXPECT_EQ(story.state(kHost), InstanceState::kTerminating);
  EXPECT_EQ(story.lease_state(next), "waiting");
}

// Bug: the account stayed open, and its host was given to the next user.
TEST_F(LeaseRestoredTest, AfterARestoreTheAccountOfALeaseThatHasAnotherHostIsClosed) {
  const InstanceId other{6};
  auto rows = site(WorkState::kHeld);
  rows.instances.push_back(second_host());
  story.begin(restored_site(std::move(rows)));
  story.host(other, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 BBBB"});
  story.ready(other, {}, "boot-6");
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "user root", other, model::IdleBehavior::kRun}));
  ASSERT_TRUE(story.ask(ReleaseWork{0, "user root", kLease}));
  ASSERT_EQ(lease_on(other), kLease);
  story.clear();
  prove();
  has_accounts(story, "hostler-l3\n");
  EXPECT_THAT(closed(), ElementsAre("close hostler-l3 as hostler-l3"));
  EXPECT_EQ(lease_on(other), kLease);
  EXPECT_EQ(story.record(kHost).health, model::Health::kBroken);
}

// Bug: nothing kept the next user from a host of a lease whose row is damaged.
TEST_F(LeaseRestoredTest, AfterARestoreAnAccountOfALeaseThatIsNotKnownIsLeftOpenAndItsHostKept) {
  auto rows = site(WorkState::kHeld);
  rows.work.clear();
  rows.leases.clear();
  rows.damaged.push_back({"work", "l-3", "state is 99", {}});
  story.begin(restored_site(std::move(rows)));
  prove();
  has_accounts(story, "hostler-l3\n");
  EXPECT_THAT(closed(), IsEmpty());
  EXPECT_EQ(story.record(kHost).health, model::Health::kBroken);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
}

TEST_F(LeaseRestoredTest, AfterARestoreALeaseThatHasItsAccountKeepsItsHost) {
  auto rows = site(WorkState::kRunning);
  rows.leases[0].ssh_keys = {"ssh-ed25519 AAAA"};
  rows.leases[0].login = model::Login::kUser;
  story.begin(restored_site(std::move(rows)));
  prove();
  has_accounts(story, "hostler-l3\nhostler-l77\n");
  EXPECT_EQ(lease_on(kHost), kLease);
  EXPECT_EQ(story.lease_state(kLease), "granted");
}

TEST_F(LeaseRestoredTest, AHostThatIsNotOfARestoredStateIsNotAskedForAccounts) {
  auto rows = site(WorkState::kQueued);
  rows.work.clear();
  rows.leases.clear();
  story.begin(std::move(rows));
  prove();
  EXPECT_THAT(story.commands<model::RunCommand>(), IsEmpty());
}

TEST_F(LeaseRestoredTest, AfterARestoreAWaitingLeaseIsHeldUntilItIsReleased) {
  auto rows = restored_site(site(WorkState::kHeld));
  rows.work[0].record.reason_text = "it waited";
  story.begin(std::move(rows));
  EXPECT_EQ(story.lease_state(kLease), "held");
  EXPECT_EQ(story.dispatcher.queries().waiting(kLease)->code, model::WaitingCode::kHeld);
  ASSERT_TRUE(story.ask(ReleaseWork{0, "user root", kLease}));
  EXPECT_EQ(story.lease_state(kLease), "waiting");
}

}  // namespace
}  // namespace hostler::dispatch

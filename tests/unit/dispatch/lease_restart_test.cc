#include "tests/unit/dispatch/lease_rows.h"

/// Leases over restarts, and gangs after a backup was put back.
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

TEST_F(LeaseRestartTest, AfterARestartAGangThatWasGrantingIsGrantedWithItsLastHost) {
  constexpr InstanceId kOther{6};
  auto rows = gang_site(WorkState::kStarting);
  rows.work[1].record.instance = kOther;
  auto other = instance(InstanceState::kBusy);
  other.record.id = kOther;
  other.record.provider_id = "i-6";
  other.record.idempotency_key = "key-6";
  rows.instances.push_back(other);
  story.begin(std::move(rows));
  prove();
  EXPECT_EQ(story.lease_state(kLease), "granting");
  story.host(kOther, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  story.ready(kOther);
  EXPECT_EQ(story.lease_state(kLease), "granted");
  EXPECT_EQ(story.lease_state(kNext), "granted");
}

// Bug: the other one waited for ever once it was released.
TEST_F(LeaseRestartTest, AfterARestoreOneOfAGangWhoseHostHasItsAccountIsGrantedWithoutTheOthers) {
  for (const bool is_released : {false, true}) {
    Story other(policy);
    other.begin(restored_site(gang_site(WorkState::kHeld)));
    const ReleaseWork release{0, "user root", kNext};
    if (is_released) {
      EXPECT_TRUE(other.ask(release));
    }
    prove_host(other);
    has_accounts(other, "hostler-l3\n");
    EXPECT_EQ(other.lease_state(kLease), "granted");
    if (!is_released) {
      EXPECT_EQ(other.lease_state(kNext), "held") << "its host may report yet";
      EXPECT_TRUE(other.ask(release));
    }
    EXPECT_EQ(other.record(kNext).reason, EndReason::kCancelled);
    EXPECT_EQ(other.record(kNext).reason_text,
              "by hostler, as l-3 of its gang was granted without it");
    EXPECT_EQ(other.lease_state(kLease), "granted");
  }
}

TEST_F(LeaseRestartTest, AfterARestoreAGangThatIsReleasedWaitsWithoutAPause) {
  story.begin(restored_site(gang_site(WorkState::kHeld)));
  ASSERT_TRUE(story.ask(ReleaseWork{0, "user root", {}}));
  EXPECT_EQ(story.lease_state(kLease), "waiting");
  EXPECT_EQ(story.lease_state(kNext), "waiting");
  EXPECT_THAT(story.ledger(), Not(Contains("l-3 let_go")));
}

// Bug: the other one waited, or was granting, for ever.
TEST_F(LeaseRestartTest, AGangOfWhichARowIsDamagedEndsUnlessItWasGranted) {
  for (const auto state : {WorkState::kQueued, WorkState::kStarting, WorkState::kRunning}) {
    auto rows = gang_site(state);
    rows.work.pop_back();
    rows.leases.pop_back();
    rows.damaged.push_back({"work", "l-4", "state is 99", {}});
    Story other(policy);
    other.begin(std::move(rows));
    if (state == WorkState::kRunning) {
      EXPECT_EQ(other.lease_state(kLease), "granted");
      continue;
    }
    EXPECT_EQ(other.record(kLease).reason, EndReason::kCancelled);
    EXPECT_EQ(other.record(kLease).reason_text,
              "by hostler, as the row of l-4 of its gang is damaged");
  }
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

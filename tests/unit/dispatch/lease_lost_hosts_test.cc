#include "tests/unit/dispatch/lease_logins.h"
#include "tests/unit/dispatch/lease_rows.h"

/// Leases whose hosts are destroyed for another reason, or never become ready for the holder.
namespace hostler::dispatch {
namespace {

class LostHostTest : public LeaseTest {
 protected:
  void kill(InstanceId on) {
    EXPECT_TRUE(story.ask(KillInstance{0, "admin", on, "maintenance"}));
    EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  }
  void is_gone(InstanceId on) {
    story.say(DestroyEnded{on, {}});
    for (int n = 0; n < 2; ++n) story.list({story.seen(on, model::CloudState::kGone)});
  }
};

// Bug: it was granted, and could be renewed, until the cloud had destroyed the host.
TEST_F(LostHostTest, AKilledHostIsItsHoldersNoMore) {
  const auto [id, on] = granted();
  story.clear();
  kill(on);
  EXPECT_EQ(story.lease_state(id), "ending");
  EXPECT_EQ(reason(id), EndReason::kHostLost);
  EXPECT_THAT(story.ledger(), Contains(id.text() + " ending host_lost"));
  const std::string why = "l-1 has ended: h-1 is being destroyed (killed): by admin: maintenance";
  for (const auto& answer : {renew(id, 1h), give_back(id), cancel(id)}) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::kConflict);
    EXPECT_EQ(answer.error().message, why);
  }
  story.pass(2h);
  EXPECT_EQ(story.lease_state(id), "ending") << "it has no term any more";
  is_gone(on);
  EXPECT_EQ(story.lease_state(id), "ended");
  EXPECT_EQ(reason(id), EndReason::kHostLost);
}

TEST_F(LostHostTest, ALeaseOfAHostThatDoesNotAnswerEndsWithTheDecisionToDestroyIt) {
  const auto [id, on] = granted();
  story.host(on, model::HostLost{"reset", 0s});
  story.pass(11min);
  ASSERT_EQ(story.record(on).reason_code, model::Reason::kUnreachable);
  EXPECT_EQ(story.lease_state(id), "ending");
  EXPECT_EQ(reason(id), EndReason::kHostLost);
}

TEST_F(LostHostTest, ARestartLeavesTheLeaseOfAHostThatIsBeingDestroyedItsReason) {
  auto rows = lease_rows(WorkState::kCollecting, story.now.wall);
  rows.instances[0].record.state = InstanceState::kTerminating;
  rows.work[0].record.reason = EndReason::kHostLost;
  rows.work[0].record.reason_text = "h-7 is being destroyed (killed)";
  Story other(policy);
  other.begin(std::move(rows));
  other.pass(1min);
  EXPECT_EQ(other.lease_state(kLease), "ending");
  other.say(DestroyEnded{kHost, {}});
  for (int n = 0; n < 2; ++n) other.list({other.seen(kHost, model::CloudState::kGone)});
  EXPECT_EQ(other.lease_state(kLease), "ended");
  EXPECT_EQ(other.record(kLease).reason_text, "h-7 is being destroyed (killed)");
}

class LostLoginTest : public LoginTest {};

TEST_F(LostLoginTest, OneThatIsGrantingGetsAnotherHostAtOnceIfItsOwnIsKilled) {
  const auto [id, on] = opening();
  story.clear();
  EXPECT_TRUE(story.ask(KillInstance{0, "admin", on, ""}));
  EXPECT_EQ(story.lease_state(id), "waiting");
  const auto bought = story.all<CreateCall>();
  ASSERT_THAT(bought, SizeIs(1));
  story.boot(bought[0].instance);
  command_ends(bought[0].instance);
  EXPECT_EQ(story.lease_state(id), "granted");
  EXPECT_EQ(lease_on(bought[0].instance), id);
  EXPECT_EQ(lease_on(on), std::nullopt);
}

// Bug: a host on which the account was never open was held for ever.
TEST_F(LostLoginTest, OneThatIsNotGrantedWithinItsWaitEndsAndItsAccountIsClosed) {
  auto wish = with_key();
  wish.lease.wait_max = 10min;
  const WorkId id = story.borrow(wish);
  const InstanceId on = story.all<CreateCall>().back().instance;
  story.boot(on);
  command_is_lost(on);  // It is opened again.
  story.pass(9min);
  EXPECT_EQ(story.lease_state(id), "granting");
  story.pass(2min);
  EXPECT_EQ(story.lease_state(id), "ending");
  EXPECT_EQ(reason(id), EndReason::kWaitMax);
  command_ends(on);  // The opening: what it has made is closed.
  EXPECT_THAT(sent(), Contains("close"));
  command_ends(on);
  expect_destroyed(id, on, EndReason::kWaitMax);
}

TEST_F(LostLoginTest, AReconnectionMovesNoWait) {
  auto wish = with_key();
  wish.lease.wait_max = 10min;
  const WorkId id = story.borrow(wish);
  const InstanceId on = story.all<CreateCall>().back().instance;
  story.boot(on);
  for (int n = 0; n < 2; ++n) {
    story.pass(4min);
    connect_again(on);
  }
  EXPECT_EQ(story.lease_state(id), "granting");
  story.pass(3min);
  EXPECT_EQ(reason(id), EndReason::kWaitMax);
}

}  // namespace
}  // namespace hostler::dispatch

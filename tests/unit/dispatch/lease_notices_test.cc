#include "tests/unit/dispatch/lease_logins.h"
#include "tests/unit/dispatch/lease_rows.h"

/// Holders with a login are told of the end, and a restart goes on with their accounts.
namespace hostler::dispatch {
namespace {

class LoginRestartTest : public LoginTest {
 protected:
  void SetUp() override {}  // Each begins with its own rows.
  /// Its term ends in 5 minutes.
  model::Restored site(WorkState state) const {
    auto out = lease_rows(state, story.now.wall);
    auto& terms = out.leases[0];
    terms.ssh_keys = {kKey};
    terms.login = model::Login::kUser;
    if (state == WorkState::kRunning) terms.until = story.now.wall + 5min;
    return out;
  }
  void prove() { prove_host(story); }
};

TEST_F(LoginTest, TheHolderIsToldOnceOfTheEndOfTheTerm) {
  auto wish = with_key();
  wish.lease.notice_command = "wall it ends";
  const WorkId id = story.borrow(wish);
  const InstanceId on = story.all<CreateCall>().back().instance;
  story.boot(on);
  command_ends(on);
  const Wall until = terms().until;
  story.clear();

  story.pass(109min);
  EXPECT_THAT(sent(), IsEmpty());
  story.pass(2min);
  ASSERT_THAT(sent(), ElementsAre("tell"));
  const auto run = story.commands<model::RunCommand>().at(0);
  EXPECT_THAT(run.command.input, HasSubstr("Lease l-1 ends at "));
  EXPECT_THAT(run.command.input, HasSubstr("wall it ends"));
  command_ends(on, 3);
  EXPECT_EQ(terms().told, until) << "the status of its own command is the holder's affair";
  story.pass(5min);
  connect_again(on);
  EXPECT_THAT(sent(), SizeIs(1));
  EXPECT_EQ(story.lease_state(id), "granted");
}

TEST_F(LoginTest, ARenewedLeaseIsToldOfItsNewEnd) {
  const auto [id, on] = logged_in(1h);
  story.pass(51min);
  ASSERT_THAT(sent(), ElementsAre("tell"));
  command_ends(on);
  story.pass(1min);
  EXPECT_TRUE(renew(id, 2h));
  EXPECT_THAT(sent(), ElementsAre("tell", "tell")) << "it does not end when the file says so";
  EXPECT_THAT(story.commands<model::RunCommand>().back().command.input,
              HasSubstr("It does not end at the time that was said. Lease l-1 ends at "));
  command_ends(on);
  EXPECT_EQ(terms().told, Wall{});
  story.pass(109min);
  EXPECT_THAT(sent(), SizeIs(2));
  story.pass(2min);
  EXPECT_THAT(sent(), ElementsAre("tell", "tell", "tell"));
}

// Bug: what was granted before was told as the pool had it then.
TEST_F(LoginTest, AReloadTellsHoldersSooner) {
  (void)logged_in();
  policy.pools[0].leases->notice_before = 1h;
  reload();
  story.pass(59min);
  EXPECT_THAT(sent(), IsEmpty());
  story.pass(2min);
  EXPECT_THAT(sent(), ElementsAre("tell"));
}

// Bug: each renewal was a command and two records.
TEST_F(LoginTest, WhoeverRenewsAgainAndAgainIsToldNowAndThen) {
  const auto [id, on] = opening(5min);
  command_ends(on);
  command_ends(on);
  ASSERT_THAT(sent(), ElementsAre("open", "tell"));
  const Mono begun = story.now.mono;
  for (int n = 0; n < 30; ++n) {
    EXPECT_TRUE(renew(id, 5min));
    command_ends(on);
  }
  EXPECT_LE(sent().size(), 3U + static_cast<std::size_t>((story.now.mono - begun) / 10s));
  story.pass(11s);
  command_ends(on);
  EXPECT_EQ(terms().told, terms().until) << "of the last one, too";
}

TEST_F(LoginTest, AHolderThatRenewsAllTheTimeIsToldOfTheLastEndAfterAPause) {
  const auto [id, on] = logged_in(1h);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(renew(id, 5min));
    if (i == 0) command_ends(on);
    story.pass(1s);
  }
  EXPECT_THAT(sent(), SizeIs(1));
  story.pass(10s);
  EXPECT_THAT(sent(), SizeIs(2));
}

TEST_F(LoginTest, ATermThatIsShorterThanTheNoticeIsToldOfAtOnce) {
  (void)opening(5min);
  command_ends(story.all<CreateCall>().back().instance);
  EXPECT_THAT(sent(), ElementsAre("open", "tell"));
}

TEST_F(LoginTest, ANoticeThatMayHaveBeenLostIsGivenAgainOnTheNextConnection) {
  const auto [id, on] = logged_in(1h);
  story.pass(51min);
  command_is_lost(on);
  story.pass(1min);
  EXPECT_THAT(sent(), ElementsAre("tell"));
  connect_again(on);
  EXPECT_THAT(sent(), ElementsAre("tell", "tell"));
  command_ends(on);
  connect_again(on);
  EXPECT_THAT(sent(), SizeIs(2));
}

TEST_F(LoginTest, AnInterruptionIsToldAtOnceAndOnce) {
  const auto [id, on] = logged_in();
  model::HostInterruption notice{.text = "spot"};
  notice.at = story.now.wall + 2min;
  story.host(on, notice);
  ASSERT_THAT(sent(), ElementsAre("tell"));
  EXPECT_THAT(story.commands<model::RunCommand>()[0].command.input,
              HasSubstr("The cloud takes this host back"));
  story.host(on, notice);
  EXPECT_THAT(sent(), SizeIs(1)) << "it is being told";
  command_ends(on);
  story.host(on, notice);
  connect_again(on);
  EXPECT_THAT(sent(), SizeIs(1));
  EXPECT_EQ(story.lease_state(id), "granted") << "the host is its holder's until it is gone";
}

// Bug: the notice file went on to say that the cloud takes the host back.
TEST_F(LoginTest, AnInterruptionThatIsWithdrawnIsToldOnceAndThenTheEndOfTheTerm) {
  const auto [id, on] = logged_in();
  model::HostInterruption notice{.text = "spot"};
  notice.at = story.now.wall + 5min;
  story.host(on, notice);
  command_ends(on);
  story.pass(1min);
  notice.action = model::InterruptionAction::kWithdrawn;
  story.host(on, notice);
  ASSERT_THAT(sent(), ElementsAre("tell", "tell"));
  EXPECT_THAT(story.commands<model::RunCommand>()[1].command.input,
              HasSubstr("It does not end at the time that was said."));
  command_is_lost(on);
  connect_again(on);
  EXPECT_THAT(sent(), SizeIs(2)) << "not so soon";
  story.pass(11s);
  ASSERT_THAT(sent(), SizeIs(3));
  command_ends(on);
  connect_again(on);
  EXPECT_THAT(sent(), SizeIs(3));
  story.pass(108min);
  EXPECT_THAT(sent(), SizeIs(3));
  story.pass(2min);
  EXPECT_THAT(sent(), SizeIs(4)) << "10 minutes before the end of the term";
}

TEST_F(LeaseTest, WithoutALoginNobodyIsTold) {
  (void)granted(1h);
  story.pass(55min);
  EXPECT_THAT(story.commands<model::RunCommand>(), IsEmpty());
}

TEST_F(LoginRestartTest, AnAccountThatARestartCameBetweenIsOpenedAgain) {
  story.begin(site(WorkState::kStarting));
  EXPECT_THAT(sent(), IsEmpty());
  prove();
  EXPECT_EQ(story.lease_state(kLease), "granting");
  EXPECT_THAT(sent(), ElementsAre("open"));
  command_ends(kHost);
  EXPECT_EQ(story.lease_state(kLease), "granted");
}

// Bug: it was granting for ever, as nothing connects to such a host.
TEST_F(LoginRestartTest, AnAccountIsNotWaitedForWhereTheRestartHasEndedAllConnections) {
  for (const auto kind : {model::Readiness::kCloud, model::Readiness::kReported}) {
    policy.pools[0].readiness = kind;
    Story other(policy);
    other.begin(site(WorkState::kStarting));
    EXPECT_EQ(other.lease_state(kLease), "ended") << "no other pool opens an account";
    EXPECT_THAT(other.record(kLease).reason_text, HasSubstr("no key opens an account there"));
    EXPECT_EQ(other.record(kHost).reason_code, model::Reason::kLeaseEnded);
  }
}

TEST_F(LoginRestartTest, OneThatWasNotToldIsToldAndOneThatWasIsNot) {
  story.begin(site(WorkState::kRunning));
  prove();
  EXPECT_THAT(sent(), ElementsAre("tell"));

  auto rows = site(WorkState::kRunning);
  rows.leases[0].told = rows.leases[0].until;
  Story other(policy);
  other.begin(std::move(rows));
  prove_host(other);
  EXPECT_THAT(other.commands<model::RunCommand>(), IsEmpty());
}

TEST_F(LoginRestartTest, AnAccountWhoseClosingARestartCameBetweenIsClosedAgain) {
  story.begin(site(WorkState::kCollecting));
  EXPECT_EQ(story.lease_state(kLease), "ending");
  prove();
  story.pass(31s);
  EXPECT_THAT(sent(), ElementsAre("close"));
  command_ends(kHost);
  EXPECT_EQ(story.lease_state(kLease), "ended");
  EXPECT_EQ(story.record(kHost).reason_code, model::Reason::kLeaseEnded);
}

TEST_F(LoginRestartTest, AHostThatDoesNotConnectAfterTheGraceIsDestroyedAllTheSame) {
  story.begin(site(WorkState::kCollecting));
  story.pass(31s);
  EXPECT_EQ(story.lease_state(kLease), "ended");
  EXPECT_EQ(story.record(kHost).reason_code, model::Reason::kLeaseEnded);
}

}  // namespace
}  // namespace hostler::dispatch

#include "tests/unit/dispatch/lease_logins.h"

/// The accounts by which holders log in: opened before the grant, closed at the end.
namespace hostler::dispatch {
namespace {

model::SitePolicy rotating_site() {
  auto out = login_site();
  out.pools[0].rotate_keys = true;
  return out;
}

class RotatingTest : public LoginTest {
 protected:
  RotatingTest() : LoginTest(rotating_site()) {}
};

class RootTest : public LoginTest {
 protected:
  RootTest() : LoginTest(login_site(model::Login::kRoot)) {}
};

TEST_F(LoginTest, ALeaseIsGrantedOnceItsAccountIsOpen) {
  const auto [id, on] = opening();
  const auto runs = story.commands<model::RunCommand>();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].instance, on);
  EXPECT_EQ(runs[0].command.purpose, "open hostler-l1 as hostler-l1");
  EXPECT_EQ(runs[0].command.input, std::string(kKey) + "\n");
  EXPECT_EQ(terms().login, model::Login::kUser) << "durable before the command is sent";
  EXPECT_EQ(lease_on(on), id);

  story.pass(10s);
  EXPECT_EQ(story.lease_state(id), "granting");
  command_ends(on);
  EXPECT_EQ(story.lease_state(id), "granted");
  EXPECT_EQ(terms().until, story.record(id).started + 2h) << "its term begins with the grant";
}

TEST_F(RootTest, WhereThePoolLendsRootTheHolderIsRoot) {
  (void)opening();
  EXPECT_EQ(story.commands<model::RunCommand>().at(0).command.purpose, "open hostler-l1 as root");
  EXPECT_EQ(terms().login, model::Login::kRoot);
}

TEST_F(LoginTest, AHostWhoseAccountCannotBeOpenedIsEndedAndTheLeaseGetsAnother) {
  const auto [id, on] = opening();
  command_ends(on, 1, "no useradd");
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_EQ(story.lease_state(id), "waiting");
  EXPECT_EQ(terms().login, model::Login::kNone) << "it has no account any more";
  EXPECT_THAT(story.record(id).reason_text, HasSubstr("status 1: no useradd"));
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(2)) << "another host for it";
}

TEST_F(RotatingTest, AnAccountIsOpenedOnceTheHostKeyIsReplaced) {
  const auto [id, on] = opening();
  EXPECT_THAT(sent(), IsEmpty());
  story.host(on, model::RotationProposed{"ssh-ed25519 NEXT", "secret"});
  EXPECT_THAT(sent(), IsEmpty());
  story.host(on, model::RotationEnded{true, false, ""});
  EXPECT_THAT(sent(), ElementsAre("open"));
  command_ends(on);
  EXPECT_EQ(story.lease_state(id), "granted");
  connect_again(on);
  EXPECT_EQ(story.lease_state(id), "granted");
}

TEST_F(RotatingTest, AnAccountIsOpenedWhereTheHostKeyCannotBeReplacedNow) {
  const auto [id, on] = opening();
  story.host(on, model::RotationEnded{false, false, "sshd -t failed"});
  EXPECT_THAT(sent(), ElementsAre("open"));
  command_ends(on);
  EXPECT_EQ(story.lease_state(id), "granted");
}

TEST_F(RotatingTest, AnotherConnectionTriesToReplaceTheHostKeyBeforeAnAccountIsOpened) {
  const auto [id, on] = opening();
  connect_again(on);
  EXPECT_THAT(sent(), IsEmpty());
  story.host(on, model::RotationEnded{false, true, "its sshd is not ours"});
  EXPECT_THAT(sent(), ElementsAre("open"));
}

TEST_F(LoginTest, AnOpeningThatMayHaveBeenLostIsSentAgainOnTheNextConnection) {
  const auto [id, on] = opening();
  connect_again(on);
  EXPECT_THAT(sent(), ElementsAre("open", "open"));
  story.pass(6s);
  EXPECT_THAT(sent(), SizeIs(2)) << "it is under way";
  command_ends(on);
  EXPECT_EQ(story.lease_state(id), "granted");
}

TEST_F(LoginTest, AHostThatNeverSaysHowTheOpeningEndedIsGivenUp) {
  const auto [id, on] = opening();
  command_is_lost(on);
  EXPECT_EQ(story.lease_state(id), "granting");
  for (int n = 2; n <= 3; ++n) {
    story.pass(6s);
    ASSERT_THAT(sent(), SizeIs(n));
    command_is_lost(on);
  }
  EXPECT_EQ(story.lease_state(id), "waiting");
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
}

TEST_F(LoginTest, OneThatIsCancelledWhileItsAccountIsOpenedLeavesNoHostToOthers) {
  const auto [id, on] = opening();
  (void)story.submit({story.job(2)});
  EXPECT_TRUE(cancel(id));
  EXPECT_EQ(story.lease_state(id), "ending");
  EXPECT_THAT(sent(), ElementsAre("open")) << "the two do not run beside each other";
  command_ends(on);
  EXPECT_THAT(sent(), ElementsAre("open", "close"));
  command_ends(on);
  expect_destroyed(id, on, EndReason::kCancelled);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
}

// Bug: it was refused, although the table of states has it.
TEST_F(LoginTest, OneIsReturnedWhileItsAccountIsOpened) {
  const auto [id, on] = opening();
  EXPECT_FALSE(renew(id, 1h)) << "its term has not begun";
  EXPECT_TRUE(give_back(id, false));
  EXPECT_EQ(story.lease_state(id), "ending");
  command_ends(on);
  EXPECT_THAT(sent(), ElementsAre("open", "close"));
  command_ends(on);
  expect_destroyed(id, on, EndReason::kReturned);
}

TEST_F(LoginTest, AHostOnWhichALoginWasPossibleIsDestroyedAlsoIfItIsReturnedUnused) {
  for (const bool used : {true, false}) {
    const auto [id, on] = logged_in();
    EXPECT_TRUE(give_back(id, used));
    EXPECT_EQ(story.lease_state(id), "ending");
    EXPECT_THAT(sent(), ElementsAre("close"));
    EXPECT_EQ(lease_on(on), id);
    command_ends(on);
    expect_destroyed(id, on, EndReason::kReturned);
    story.clear();
  }
}

TEST_F(LoginTest, TheHostIsDestroyedWhateverTheClosingSays) {
  const auto [failed, on] = logged_in();
  EXPECT_TRUE(give_back(failed));
  command_ends(on, 1, "2 of its processes cannot be ended");
  expect_destroyed(failed, on, EndReason::kReturned);
  EXPECT_THAT(story.record(failed).reason_text, HasSubstr("its account was not closed: status 1"));
  story.clear();

  const auto [lost, other] = logged_in();
  EXPECT_TRUE(give_back(lost));
  story.host(other, model::HostLost{"reset", 0s});
  expect_destroyed(lost, other, EndReason::kReturned);
  story.clear();

  const auto [away, third] = logged_in();
  story.host(third, model::HostLost{"reset", 0s});
  EXPECT_TRUE(give_back(away));
  EXPECT_THAT(sent(), IsEmpty()) << "no connection stands";
  expect_destroyed(away, third, EndReason::kReturned);
}

TEST_F(LoginTest, AfterTheTermTheProcessesOfTheHolderHaveTheGrace) {
  const auto [id, on] = logged_in(1h);
  story.pass(1h + 1s);
  EXPECT_EQ(story.lease_state(id), "ending");
  EXPECT_THAT(sent(), Not(Contains("close")));
  EXPECT_EQ(renew(id, 1h).error().message, "l-1 has ended");
  story.pass(30s);
  EXPECT_THAT(sent(), Contains("close"));
  command_ends(on);
  expect_destroyed(id, on, EndReason::kTerm);
}

// Bug: a dump called each of them "term".
TEST_F(LoginTest, ADumpNamesWhatIsDoneToALeaseAtATime) {
  const auto timers_of = [&](WorkId lease) {
    std::vector<std::string> out;
    const auto parts = story.dispatcher.queries().dump_parts(story.now);
    for (const auto& timer : parts.timers)
      if (timer.of == lease.text()) out.emplace_back(timer.what);
    return out;
  };
  const auto [id, on] = opening();
  command_is_lost(on);
  EXPECT_THAT(timers_of(id), ElementsAre("open_account"));
  story.pass(6s);
  command_ends(on);
  EXPECT_THAT(timers_of(id), ElementsAre("notice", "term"));
  story.pass(2h + 1s);
  EXPECT_EQ(story.lease_state(id), "ending");
  EXPECT_THAT(timers_of(id), ElementsAre("close_account"));
}

TEST_F(LoginTest, AHostThatAnAdminHoldsIsGivenToNobodyElse) {
  const auto [id, on] = logged_in();
  EXPECT_TRUE(story.ask(SetIdleBehavior{0, "root", on, model::IdleBehavior::kHold}));
  EXPECT_TRUE(give_back(id));
  command_ends(on);
  EXPECT_EQ(story.lease_state(id), "ended");
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  EXPECT_EQ(story.record(on).health, model::Health::kBroken);
}

// Bug: it waited for ever, for a pool that lends no more.
// Bug: the key of the holder opened the account for as long as the admin held the host.
TEST_F(LoginTest, OnAHostThatAnAdminHoldsAnAccountIsClosedAlsoIfItsConnectionStandsLater) {
  const auto [id, on] = logged_in();
  EXPECT_TRUE(story.ask(SetIdleBehavior{0, "root", on, model::IdleBehavior::kHold}));
  story.host(on, model::HostLost{"reset", 0s});
  EXPECT_TRUE(give_back(id));
  EXPECT_EQ(story.lease_state(id), "ended");
  EXPECT_EQ(story.record(on).health, model::Health::kBroken);
  story.clear();
  story.ready(on);
  EXPECT_THAT(sent(), ElementsAre("find"));
  model::CommandEnded end;
  end.number = story.commands<model::RunCommand>().back().number;
  end.status = 0;
  end.output = id.text() + "\nhostler-l1\nhostler-l99\n";
  story.host(on, end);
  const auto runs = story.commands<model::RunCommand>();
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[1].command.purpose, "close hostler-l1 as hostler-l1") << "l-99 is not known";
}

TEST_F(LoginTest, OneThatWaitsAgainEndsIfItsPoolLendsNoMore) {
  const auto [id, on] = opening();
  policy.pools[0].leases.reset();
  reload();
  EXPECT_EQ(story.lease_state(id), "granting");
  command_ends(on, 1, "no useradd");
  EXPECT_EQ(reason(id), EndReason::kCancelled);
  EXPECT_EQ(story.record(id).reason_text,
            "by the configuration: pool default does not lend hosts (pools[].leases)");
}

// Bug: the account of the other lease was left on its host.
TEST_F(LoginTest, OnAHostThatAGangLetsGoAndAnAdminHoldsNoAccountIsLeft) {
  for (const bool is_open : {true, false}) {
    auto wish = with_key();
    wish.work.shape.gang = {0, 2, false};
    const WorkId first = story.borrow(wish);
    std::vector<InstanceId> hosts;
    for (const auto& call : story.all<CreateCall>()) hosts.push_back(call.instance);
    ASSERT_THAT(hosts, SizeIs(2));
    for (const auto on : hosts) story.boot(on);
    const auto runs = story.commands<model::RunCommand>();
    ASSERT_THAT(runs, SizeIs(2));
    EXPECT_EQ(story.lease_state(first), "granting");
    const auto ends = [&](const model::RunCommand& run, int status) {
      model::CommandEnded end;
      end.number = run.number;
      end.status = status;
      story.host(run.instance, end);
    };
    EXPECT_TRUE(
        story.ask(SetIdleBehavior{0, "root", runs[0].instance, model::IdleBehavior::kHold}));
    if (is_open) ends(runs[0], 0);
    ends(runs[1], 1);
    EXPECT_EQ(story.lease_state(first), "waiting");
    EXPECT_NE(story.state(runs[0].instance), InstanceState::kTerminating);
    if (!is_open) ends(runs[0], 0);
    std::vector<InstanceId> closed;
    for (const auto& run : story.commands<model::RunCommand>())
      if (run.command.purpose.starts_with("close")) closed.push_back(run.instance);
    EXPECT_THAT(closed, Contains(runs[0].instance));
    EXPECT_EQ(lease_on(runs[0].instance), std::nullopt);
    EXPECT_EQ(story.record(runs[0].instance).health, model::Health::kBroken);
    EXPECT_TRUE(cancel(first));
    story.clear();
  }
}

// Bug: the hosts that the others had let go stayed theirs, and were neither ended nor lent.
TEST_F(LoginTest, OfAGangThatIsNotGrantedAllHostsEnd) {
  auto wish = with_key();
  wish.work.shape.gang = {0, 2, false};
  const WorkId first = story.borrow(wish);
  for (const auto& call : story.all<CreateCall>()) story.boot(call.instance);
  const auto runs = story.commands<model::RunCommand>();
  ASSERT_THAT(runs, SizeIs(2));
  command_ends(runs[1].instance, 1, "no useradd");
  EXPECT_EQ(story.lease_state(first), "waiting");
  for (const auto& run : runs) {
    EXPECT_EQ(story.record(run.instance).reason_code, model::Reason::kLeaseEnded);
    EXPECT_EQ(lease_on(run.instance), std::nullopt);
  }
}

// Bug: it counted as granted with its hosts, also if an account could not be opened then.
TEST_F(LoginTest, AGangCountsAsGrantedOnceWithItsLastAccount) {
  auto wish = with_key();
  wish.work.shape.gang = {0, 2, false};
  const WorkId first = story.borrow(wish);
  for (const auto& call : story.all<CreateCall>()) story.boot(call.instance);
  const auto runs = story.commands<model::RunCommand>();
  ASSERT_THAT(runs, SizeIs(2));
  for (std::size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(story.lease_state(first), "granting");
    EXPECT_EQ(story.dispatcher.queries().totals(story.now.mono).gangs.granted, 0U);
    model::CommandEnded end;
    end.number = runs[n].number;
    end.status = 0;
    story.host(runs[n].instance, end);
  }
  EXPECT_EQ(story.lease_state(first), "granted");
  EXPECT_EQ(story.dispatcher.queries().totals(story.now.mono).gangs.granted, 1U);
}

TEST_F(LoginTest, KeysChooseThePoolsWithALogin) {
  auto other = policy.pools[0];
  other.name = "bare";
  other.leases->login = model::Login::kNone;
  policy.pools.push_back(other);
  reload();
  const auto pools_of = [&](const SubmitLease& wish) {
    (void)story.borrow(wish);
    return story.journalled<model::WorkItem>().back().shape.constraints.pools;
  };
  EXPECT_THAT(pools_of(with_key()), ElementsAre("default"));
  EXPECT_THAT(pools_of(story.lease()), ElementsAre("bare"));

  const auto refusal = [&](SubmitLease wish, const std::string& pool) {
    wish.principal = "user ann";
    wish.work.shape.constraints.pools = {pool};
    const auto answer = story.ask(wish);
    return answer ? "" : answer.error().message;
  };
  EXPECT_THAT(refusal(story.lease(), "default"), HasSubstr("name the keys"));
  EXPECT_THAT(refusal(with_key(), "bare"), HasSubstr("without a login: ask without keys"));
}

TEST_F(LoginTest, WhoeverWasAcceptedWithKeysGetsAnAccountAfterAReload) {
  const WorkId id = story.borrow(with_key());
  policy.pools[0].leases->login = model::Login::kNone;
  reload();
  story.boot(story.all<CreateCall>().back().instance);
  EXPECT_EQ(story.lease_state(id), "granting");
  EXPECT_THAT(sent(), ElementsAre("open"));
}

// Bug: the keys of leases that wait could fill the memory of the daemon.
TEST_F(LoginTest, KeysAndCommandsOfTheLeasesOfAPrincipalAreBounded) {
  auto large = with_key();
  large.lease.notice_command.assign(Leases::kTextsMax / 2, 'x');
  const WorkId first = story.borrow(large);
  large.principal = "user ann";
  const auto refused = story.ask(large);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kOverQuota);
  EXPECT_THAT(refused.error().message, HasSubstr("of user ann may have 64 MiB: they have 32 MiB"));
  EXPECT_FALSE(story.dispatcher.queries().trial(large, story.now));
  (void)story.borrow(large, "user bob");

  EXPECT_TRUE(cancel(first));
  large.principal = "user ann";
  EXPECT_TRUE(story.ask(large)) << "the first one has ended";
}

}  // namespace
}  // namespace hostler::dispatch

#include <map>

#include "tests/unit/dispatch/lease_logins.h"
#include "tests/unit/dispatch/lease_rows.h"

/// Leases in sets whose rows may be old: nothing is done to their hosts.
namespace hostler::dispatch {
namespace {

model::SitePolicy two_sets() {
  auto out = login_site();
  out.sets.push_back(out.sets[0]);
  out.sets[1].name = "east";
  return out;
}

/// Set west is stopped, east goes on.
class StoppedSetTest : public LoginTest {
 protected:
  explicit StoppedSetTest(model::SitePolicy site = two_sets()) : LoginTest(std::move(site)) {}
  void SetUp() override {
    story.begin();
    story.say(SetOpened{"east", model::SetInfo{}});
    story.say(SetListed{"east", story.now.mono, model::share({})});
  }
  void stop(InstanceId on) {
    auto later = story.seen(on);
    later.epoch = 4;
    story.list({later});
    story.clear();
  }
  void go_on(InstanceId on) { story.list({story.seen(on)}); }
  void expect_untouched(InstanceId on) {
    EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
    EXPECT_THAT(sent(), IsEmpty());
    EXPECT_EQ(story.state(on), InstanceState::kBusy);
  }
};

// Bug: the host was destroyed, as the holder asked for it.
TEST_F(StoppedSetTest, ALeaseIsReturnedOrCancelledOnceTheSetGoesOn) {
  const auto [id, on] = logged_in();
  stop(on);
  for (const auto& refused : {give_back(id), cancel(id)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kUnavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("nothing is done in set west now"));
  }
  EXPECT_EQ(story.lease_state(id), "granted");
  expect_untouched(on);

  go_on(on);
  EXPECT_TRUE(give_back(id));
  EXPECT_THAT(sent(), ElementsAre("close"));
}

// Bug: its account was opened on the next connection, whatever became of the set.
TEST_F(StoppedSetTest, AnAccountIsOpenedOnceTheSetGoesOn) {
  const auto [id, on] = opening();
  stop(on);
  connect_again(on);
  expect_untouched(on);
  EXPECT_EQ(story.lease_state(id), "granting");

  go_on(on);
  story.pass(11s);
  EXPECT_THAT(sent(), ElementsAre("open"));
  command_ends(on);
  EXPECT_EQ(story.lease_state(id), "granted");
}

TEST_F(StoppedSetTest, ALeaseWithoutAHostIsCancelled) {
  const auto [id, on] = logged_in();
  policy.pools[0].sizes.max = 1;
  reload();
  const WorkId waiting = story.borrow(with_key());
  stop(on);
  EXPECT_TRUE(cancel(waiting));
  EXPECT_EQ(reason(waiting), EndReason::kCancelled);
}

// Bug: the end of the command destroyed the host.
TEST_F(StoppedSetTest, ACommandThatEndsInAStoppedSetIsRunAgainAfterwards) {
  const auto [id, on] = logged_in();
  EXPECT_TRUE(give_back(id));
  const auto number = story.commands<model::RunCommand>().back().number;
  stop(on);
  model::CommandEnded end;
  end.number = number;
  end.status = 0;
  story.host(on, end);
  EXPECT_EQ(story.lease_state(id), "ending");
  expect_untouched(on);

  go_on(on);
  story.pass(11s);
  EXPECT_THAT(sent(), ElementsAre("close"));
  command_ends(on);
  expect_destroyed(id, on, EndReason::kReturned);
}

TEST_F(LeaseTest, AGangThatIsNotWholeEndsWithTheFirstListWhileTheRowsAreDoubted) {
  auto rows = lease_rows(WorkState::kStarting, story.now.wall);
  rows.epoch = 5;
  rows.doubted = 4;
  rows.work[0].shape.gang = {kLease.value, 2, false};
  rows.damaged.push_back({"work", "l-4", "state is 99", {}});
  Story other(policy);
  other.begin(std::move(rows));
  other.pass(10s);
  EXPECT_EQ(other.lease_state(kLease), "granting");
  other.list({other.seen(kHost)});
  EXPECT_EQ(other.record(kLease).reason, EndReason::kCancelled);
}

// Bug: its wait was over before the list showed that the rows are old, so its holder lost it.
TEST_F(LeaseTest, NoWaitIsOverBeforeTheFirstListWhileTheRowsAreDoubted) {
  auto rows = lease_rows(WorkState::kQueued, story.now.wall);
  rows.leases[0].wait_max = 10min;  // It was submitted before that.
  rows.epoch = 5;
  rows.doubted = 4;
  Story other(policy);
  other.begin(std::move(rows));
  other.pass(10s);
  EXPECT_EQ(other.lease_state(kLease), "waiting");
  other.list({other.seen(kHost)});
  other.pass(1min);
  EXPECT_EQ(other.record(kLease).reason, EndReason::kWaitMax);
}

/// A gang with keys: l-3 has h-7 in west, l-4 has h-8 in east. Both accounts are being opened.
class GangOverSetsTest : public StoppedSetTest {
 protected:
  GangOverSetsTest() : StoppedSetTest(site()) {}
  void SetUp() override {
    story.begin(rows());
    story.say(SetOpened{"east", model::SetInfo{}});
    for (const auto on : {kHost, kOtherHost}) {
      story.host(on, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
      story.ready(on);
    }
    for (const auto& run : story.commands<model::RunCommand>()) openings[run.instance] = run.number;
    ASSERT_THAT(openings, SizeIs(2));
  }
  void opening_fails(InstanceId on) {
    model::CommandEnded end;
    end.number = openings[on];
    end.status = 1;
    story.host(on, end);
  }

  static constexpr WorkId kOther{4, model::WorkKind::kLease};
  static constexpr InstanceId kOtherHost{8};
  std::map<InstanceId, std::uint64_t> openings;  ///< The numbers of the commands.

 private:
  static model::SitePolicy site() {
    auto out = two_sets();
    out.pools[0].sets = {"west", "east"};
    return out;
  }
  model::Restored rows() const {
    auto out = lease_rows(WorkState::kStarting, story.now.wall);
    out.work[0].shape.gang = {kLease.value, 2, false};
    out.leases[0].ssh_keys = {kKey};
    out.leases[0].login = model::Login::kUser;
    out.work.push_back(out.work[0]);
    out.leases.push_back(out.leases[0]);
    out.instances.push_back(out.instances[0]);
    out.leases[1].id = out.work[1].record.id = kOther;
    out.work[1].record.instance = out.instances[1].record.id = kOtherHost;
    out.work[1].arrival = 4;
    out.last_instance = kOtherHost.value;
    auto& host = out.instances[1].record;
    host.set = "east";
    host.provider_id = "i-8";
    host.address = "10.0.0.8";
    host.idempotency_key = "key-8";
    return out;
  }
};

// Bug: the host of the other lease was destroyed, though its set was stopped.
TEST_F(GangOverSetsTest, AGangThatIsNotGrantedLetsAHostOfAStoppedSetGoOnceTheSetGoesOn) {
  stop(kHost);
  opening_fails(kOtherHost);
  EXPECT_EQ(story.lease_state(kOther), "waiting");
  EXPECT_EQ(story.lease_state(kLease), "granting");
  EXPECT_EQ(story.state(kHost), InstanceState::kBusy);
  EXPECT_THAT(story.ledger(), Not(Contains("l-3 let_go")));

  go_on(kHost);
  EXPECT_EQ(story.lease_state(kLease), "waiting");
  EXPECT_EQ(story.state(kHost), InstanceState::kTerminating);
  EXPECT_THAT(story.ledger(), Contains("l-3 let_go").Times(1));
}

// Bug: it was destroyed by rows that may be old.
TEST_F(LeaseTest, NothingIsReturnedBeforeTheFirstListWhileTheRowsAreDoubted) {
  auto rows = lease_rows(WorkState::kRunning, story.now.wall);
  rows.epoch = 5;
  rows.doubted = 4;
  Story other(policy);
  other.begin(std::move(rows));
  const auto refused = other.ask(ReturnLease{0, "user ann", false, kLease, true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kUnavailable);
  EXPECT_THAT(other.all<DestroyCall>(), IsEmpty());
}

}  // namespace
}  // namespace hostler::dispatch

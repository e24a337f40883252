#include <algorithm>

#include "tests/unit/dispatch/story.h"

/// Lists that show many instances that the journal does not have.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Slices of 3; 9 and more are doubted, as the pool may have 4.
class StrangersTest : public testing::Test {
 protected:
  static Options options() {
    Options out;
    out.adoption = {.slice = 3, .taken = 5000, .doubted = 6, .per_max = 2};
    return out;
  }
  static model::SitePolicy site() {
    auto out = small_site();
    out.pools[0].sizes.max = 4;
    out.plan_interval = 1ms;
    return out;
  }
  void SetUp() override { story.begin(); }

  static std::vector<model::ListedInstance> crowd(int count, int first = 0) {
    std::vector<model::ListedInstance> out;
    for (int i = first; i < first + count; ++i) {
      auto& one = out.emplace_back();
      one.id = "own-" + std::to_string(i);
      one.idempotency_key = "key-of-" + one.id;
      one.set_id = "west";
      one.owner = "us";
      one.type = "small";
      one.pool = "default";
      one.state = model::CloudState::kRunning;
    }
    return out;
  }
  model::SetView set() const { return story.dispatcher.queries().sets(story.now).at(0); }
  std::size_t known() const { return story.dispatcher.queries().instances().size(); }
  bool believe(std::uint64_t list) {
    return story.ask(BelieveList{0, "root", "west", list}).has_value();
  }
  /// Until nothing is left to adopt.
  void adopt_all() {
    while (set().strangers) story.pass(100ms);
  }

  Story story{site(), options()};
};

TEST_F(StrangersTest, AFewAreAdoptedAtOnceEachWithItsOwnRecord) {
  story.list(crowd(3));
  EXPECT_EQ(known(), 3U);
  EXPECT_THAT(story.ledger(), Not(Contains(HasSubstr("adopting"))));
  for (const auto& record : story.journalled<model::LedgerRecord>())
    EXPECT_EQ(record.cause_rev, 0U);
}

TEST_F(StrangersTest, ManyAreAdoptedSliceBySliceWithOneRecordForTheLog) {
  story.clear();
  story.list(crowd(8));
  EXPECT_EQ(known(), 3U);
  EXPECT_EQ(set().strangers.value().count, 5U);
  EXPECT_FALSE(set().strangers->doubted);
  story.pass(100ms);
  EXPECT_EQ(known(), 6U);
  adopt_all();
  EXPECT_EQ(known(), 8U);
  model::Revision cause = 0;
  for (const auto& record : story.journalled<model::LedgerRecord>()) {
    if (record.event == model::Event::kAdopting) cause = record.rev;
    if (record.event == model::Event::kAdopted) {
      EXPECT_EQ(record.cause_rev, cause);
    }
  }
  EXPECT_NE(cause, 0U);
}

TEST_F(StrangersTest, NothingIsCreatedAndNoNewerListComesBeforeTheLastSlice) {
  story.list(crowd(8));
  story.clear();
  (void)story.submit({story.job()});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  EXPECT_THAT(set().creates_refused, HasSubstr("5 are still to be adopted"));
  story.pass(100ms);
  EXPECT_THAT(story.all<ListCall>(), IsEmpty());
  adopt_all();
  EXPECT_EQ(set().creates_refused, "");
}

// Bug: a list of 90,000 adopted instances held up the loop.
TEST_F(StrangersTest, ALongListOfKnownInstancesIsTakenInSeveralTurns) {
  auto limits = options();
  limits.adoption.taken = 2;
  story = Story(site(), limits);
  story.begin();
  story.list(crowd(3));
  ASSERT_EQ(known(), 3U);
  auto seen = crowd(3);
  for (auto& one : seen) one.address = "10.0.0.1";
  const auto looked_at = [&] {
    return std::ranges::count_if(story.dispatcher.queries().instances(),
                                 [](const auto& one) { return one.record.address == "10.0.0.1"; });
  };
  story.pass(10s);
  (void)story.dispatcher.apply(SetListed{"west", story.now.mono, model::share(seen)}, story.now);
  EXPECT_EQ(looked_at(), 2);
  EXPECT_LE(story.dispatcher.next_wake(), story.now.mono);
  (void)story.dispatcher.tick(story.now);
  EXPECT_EQ(looked_at(), 3);
  EXPECT_GT(story.dispatcher.next_wake(), story.now.mono);
}

TEST_F(StrangersTest, AllOfTheListCountForCeilingsFromTheFirstSliceOn) {
  auto policy = site();
  policy.sets.push_back(policy.sets[0]);
  policy.sets[1].name = "east";
  policy.pools[0].sets.emplace_back("east");
  policy.ceilings.instances_max = 8;
  story = Story(std::move(policy), options());
  story.begin();
  story.say(SetOpened{"east", model::SetInfo{}});
  story.list(crowd(8));
  story.clear();
  (void)story.submit({story.job(8)});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty()) << "east would pass the ceiling of the site";
}

TEST_F(StrangersTest, AbsencesAreJudgedAfterTheLastSlice) {
  const auto on = story.running().second;
  story.pass(1min);
  const auto is_missed = [&] {
    const auto view = story.dispatcher.queries().instance(on, story.now);
    return view && view->unlisted_since.has_value();
  };
  story.list(crowd(8));
  EXPECT_FALSE(is_missed());
  adopt_all();
  EXPECT_TRUE(is_missed());
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
}

TEST_F(StrangersTest, OfFarTooManyNoneIsAdoptedAndNothingIsCreated) {
  const auto on = story.running().second;
  const auto before = set().list;
  story.clear();
  auto list = crowd(9);
  list.push_back(story.seen(on));
  for (int n = 0; n < 3; ++n) story.list(list);
  (void)story.submit({story.job(2)});
  story.pass(1h);
  EXPECT_EQ(known(), 1U);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
  EXPECT_THAT(story.ledger(), Contains("set west list_doubted").Times(1));
  EXPECT_TRUE(set().strangers.value().doubted);
  EXPECT_EQ(set().list, before + 1) << "each of these lists leaves the same to believe";
  EXPECT_THAT(set().creates_refused, HasSubstr("hostler sets believe west"));
  EXPECT_THAT(story.dispatcher.queries().sets(story.now)[0].conditions,
              Contains(HasSubstr("9 instances that hostlerd does not know")));
}

// Bug: they passed the site's ceiling of price, and idle hosts ended for them.
TEST_F(StrangersTest, OfFarTooManyNoneEndsAHostByItsPrice) {
  auto policy = site();
  policy.pools[0].sizes.min = 1;
  policy.ceilings.price_per_hour_max = {200};
  story = Story(std::move(policy), options());
  story.begin();
  const auto [job, on] = story.running();
  story.exited(on, job);
  story.host(on, model::AttemptCollected{{job, 1}, ""});
  auto list = crowd(9);
  list.push_back(story.seen(on));
  for (int n = 0; n < 40; ++n) {
    story.list(list);
    story.pass(1min);
  }
  EXPECT_TRUE(set().strangers.value().doubted);
  EXPECT_EQ(story.state(on), InstanceState::kIdle);
}

TEST_F(StrangersTest, SoManyTimesTheMaximumOfThePoolsAreNotTooMany) {
  auto policy = site();
  policy.pools[0].sizes.max = 5;
  story = Story(std::move(policy), options());
  story.begin();
  story.list(crowd(10));
  adopt_all();
  EXPECT_EQ(known(), 10U);
}

TEST_F(StrangersTest, AnAdminWhoBelievesTheListHasAllOfThemAdopted) {
  story.list(crowd(9));
  EXPECT_TRUE(believe(set().list));
  EXPECT_THAT(story.ledger(), Contains("set west adopting"));
  story.pass(0s);
  EXPECT_EQ(known(), 3U);
  adopt_all();
  EXPECT_EQ(known(), 9U);
  story.list(crowd(9));
  EXPECT_EQ(known(), 9U);
  EXPECT_FALSE(set().strangers);
}

TEST_F(StrangersTest, AListThatShowsOthersIsNotTheOneThatTheAdminSaw) {
  story.list(crowd(9));
  const auto seen = set().list;
  story.list(crowd(10, 5));
  EXPECT_FALSE(believe(seen));
  EXPECT_EQ(known(), 0U);
}

TEST_F(StrangersTest, ANumberOfADoubtThatIsOverIsNoNumberOfOmissions) {
  story.list(crowd(9));
  const auto seen = set().list;
  story.list({});
  EXPECT_FALSE(believe(seen));
  EXPECT_THAT(story.ledger(), Contains("set west list_trusted"));
  EXPECT_EQ(set().creates_refused, "");
}

TEST_F(StrangersTest, AListThatWasUnderWayAsAnAdminBelievedChangesNothing) {
  story.list(crowd(9));
  const Mono sent = story.now.mono;
  EXPECT_TRUE(believe(set().list));
  story.say(SetListed{"west", sent, model::share(std::vector<model::ListedInstance>{})});
  adopt_all();
  EXPECT_EQ(known(), 9U);
}

// Bug: a driver that listed others each time, too few of them to be doubted, had thousands adopted.
TEST_F(StrangersTest, FewOthersInEachListAreFarTooManyInTheEnd) {
  story.list(crowd(5));
  adopt_all();
  EXPECT_EQ(known(), 5U);
  for (int n = 1; n < 4; ++n) story.list(crowd(5, 5 * n));
  EXPECT_EQ(known(), 5U);
  EXPECT_TRUE(set().strangers.value().doubted);
  EXPECT_THAT(set().creates_refused,
              HasSubstr("5 instances that hostlerd does not know, beside 5 that it adopted"));
  story.list(crowd(5));
  EXPECT_FALSE(set().strangers) << "no others";
  EXPECT_EQ(set().creates_refused, "");
  story.pass(26h);
  story.list(crowd(5, 20));
  EXPECT_FALSE(set().strangers && set().strangers->doubted) << "it is another day";
}

// Bug: after an admin had believed a list, as many others were adopted from each later one.
TEST_F(StrangersTest, AnAdminBelievesTheseAndNotAsManyOthers) {
  story.list(crowd(9));
  EXPECT_TRUE(believe(set().list));
  story.pass(0s);
  adopt_all();
  story.list(crowd(9, 100));
  EXPECT_EQ(known(), 9U);
  EXPECT_TRUE(set().strangers.value().doubted);
}

TEST_F(StrangersTest, ThoseThatAnAdminBelievesLeaveRoomForAFewMore) {
  story.list(crowd(9));
  EXPECT_TRUE(believe(set().list));
  story.pass(0s);
  adopt_all();
  story.list(crowd(12));
  EXPECT_EQ(known(), 12U);
}

// The tags of a machine may have been copied to many others.
TEST_F(StrangersTest, ManyMachinesWithOneKnownKeyAreDoubtedAndNotEnded) {
  const auto on = story.running().second;
  auto list = crowd(9);
  for (auto& one : list) one.idempotency_key = story.record(on).idempotency_key;
  list.push_back(story.seen(on));
  story.clear();
  story.list(list);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  EXPECT_TRUE(set().strangers.value().doubted);
}

TEST_F(StrangersTest, ARestartAmongTheSlicesLosesAndDestroysNothing) {
  story.list(crowd(8));
  model::Restored left;
  for (const auto& row : story.journalled<model::InstanceChanged>()) {
    left.last_instance = std::max(left.last_instance, row.record.id.value);
    std::erase_if(left.instances, [&](const auto& one) { return one.record.id == row.record.id; });
    left.instances.push_back(row);
  }
  ASSERT_THAT(left.instances, SizeIs(3));
  story = Story(site(), options());
  story.begin(left);
  story.list(crowd(8));
  adopt_all();
  EXPECT_EQ(known(), 8U);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
}

TEST_F(StrangersTest, OfThousandsThatAreDueAtOnceATurnOfTheLoopEndsSome) {
  story = Story();
  story.begin();
  story.list(crowd(700));
  adopt_all();
  story.now.mono += 1h;  // Nobody has proved them.
  const Outbox turn = story.dispatcher.tick(story.now);
  const auto is_destroy = [](const Effect& effect) {
    return std::holds_alternative<DestroyCall>(effect);
  };
  EXPECT_EQ(std::ranges::count_if(turn.effects, is_destroy), 500);
  EXPECT_LE(story.dispatcher.next_wake(), story.now.mono);
}

}  // namespace
}  // namespace hostler::dispatch

#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/story.h"

/// The tags of instances know how often a daemon has started on the rows.
namespace hostler::dispatch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A state folder that does not know the rows, which end in epoch 4.
model::Restored doubted_site() {
  auto site = busy_site();
  site.epoch = 5;
  site.doubted = 4;
  return site;
}

/// `number` 7: the machine of the rows.
model::ListedInstance listed(int number, std::uint64_t epoch) {
  model::ListedInstance out;
  out.id = "i-" + std::to_string(number);
  out.idempotency_key = number == 7 ? "key-old" : "key-" + std::to_string(number);
  out.set_id = "west";
  out.owner = "us";
  out.type = "small";
  out.address = "10.0.0.7";
  out.state = model::CloudState::kRunning;
  out.epoch = epoch;
  return out;
}

Result<std::vector<WorkId>> submit(Story& story) {
  return story.ask(Submit{0, "user ann", {story.job(8)}});
}

TEST(EpochsTest, NothingIsDoneToASetBeforeItsFirstListWhileTheRowsAreDoubted) {
  Story story;
  story.begin(doubted_site());
  story.pass(1h);
  EXPECT_THAT(story.commands<model::ConnectHost>(), IsEmpty());
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  story.clear();
  EXPECT_FALSE(submit(story)) << "its number may have been given out";
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());

  story.list({listed(7, 3)});
  EXPECT_THAT(story.commands<model::ConnectHost>(), SizeIs(1));
  const auto compared = story.all<EpochsCompared>();
  ASSERT_THAT(compared, SizeIs(1));
  EXPECT_EQ(compared[0].later, "");
  EXPECT_TRUE(submit(story));
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

TEST(EpochsTest, AnInstanceOfALaterEpochEndsAllActivity) {
  for (const bool doubted : {true, false}) {
    auto site = doubted_site();
    if (!doubted) site.doubted.reset();
    Story story;
    story.begin(site);
    story.clear();
    // While the rows are doubted, this start has made nothing in its own epoch.
    story.list({listed(7, 3), listed(9, doubted ? 5 : 6)});
    const auto compared = story.all<EpochsCompared>();
    ASSERT_THAT(compared, SizeIs(1)) << doubted;
    EXPECT_THAT(compared[0].later, HasSubstr("i-9"));
    story.clear();
    EXPECT_FALSE(submit(story));
    story.pass(2h);
    story.ready({7});
    EXPECT_THAT(story.changes, IsEmpty());
    EXPECT_THAT(story.effects, IsEmpty());
  }
}

// Bug: a job that waited for the first list waited for the next plan too.
TEST(EpochsTest, TheFirstListLetsWorkThatWaitsBuyHosts) {
  model::Restored site;
  site.epoch = site.restored_epoch = 5;
  site.last_work = site.last_arrival = 5;
  site.work = {job(WorkState::kQueued)};
  Story story;
  story.begin(site);
  ASSERT_THAT(story.all<CreateCall>(), IsEmpty());
  story.list({});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

TEST(EpochsTest, AnInstanceOfAnotherOwnerOrSetTellsNothing) {
  for (const bool owner : {true, false}) {
    Story story;
    story.begin(doubted_site());
    auto foreign = listed(9, 99);
    if (owner)
      foreign.owner = "somebody";
    else
      foreign.set_id = "east";
    story.list({listed(7, 3), foreign});
    ASSERT_THAT(story.all<EpochsCompared>(), SizeIs(1));
    EXPECT_EQ(story.all<EpochsCompared>()[0].later, "");
  }
}

/// Two sets, whose rows the state folder knows: they end in epoch 3.
class TwoSetsTest : public testing::Test {
 protected:
  static model::SitePolicy site() {
    auto out = small_site();
    out.sets.push_back(out.sets[0]);
    out.sets[1].name = "east";
    out.pools[0].sets.emplace_back("east");
    return out;
  }
  void begin(model::Restored restored = {}) {
    story.begin(std::move(restored));
    story.say(SetOpened{"east", model::SetInfo{}});
    list_east({});
  }
  void list_east(std::vector<model::ListedInstance> all) {
    story.say(SetListed{"east", story.now.mono, model::share(std::move(all))});
  }
  model::SetView west() const { return story.dispatcher.queries().sets(story.now).at(0); }

  Story story{site()};
};

// Bug: one driver that listed an instance with a later epoch stopped all sets of the site.
TEST_F(TwoSetsTest, ALaterEpochThatOneSetShowsStopsThatSetAlone) {
  begin();
  for (int n = 0; n < 2; ++n) story.list({listed(9, 4)});
  const auto compared = story.all<EpochsCompared>();
  ASSERT_THAT(compared, SizeIs(1)) << "it is told once";
  EXPECT_THAT(compared[0].later, HasSubstr("i-9"));
  EXPECT_FALSE(compared[0].is_old);
  EXPECT_THAT(west().problem, HasSubstr("epoch 4"));
  EXPECT_THAT(west().creates_refused, HasSubstr("epoch 4"));
  EXPECT_THAT(story.ledger(), testing::Contains("set west list_doubted").Times(1));
  EXPECT_TRUE(submit(story));
  const auto creates = story.all<CreateCall>();
  ASSERT_THAT(creates, SizeIs(1));
  EXPECT_EQ(creates[0].set, "east");
  EXPECT_THAT(story.dispatcher.queries().instances(), SizeIs(1)) << "i-9 is not adopted";

  story.list({});
  EXPECT_EQ(west().creates_refused, "");
  EXPECT_EQ(story.all<EpochsCompared>().back().later, "");
}

TEST_F(TwoSetsTest, AStoppedSetGetsNoWorkAndNoneOfItsHostsEnds) {
  story.begin();  // East is not open yet.
  const auto [job, on] = story.running();
  story.say(SetOpened{"east", model::SetInfo{}});
  auto later = story.seen(on);
  later.epoch = 4;
  story.list({later});
  story.exited(on, job);
  story.host(on, model::AttemptCollected{{job, 1}, ""});
  story.clear();
  const auto next = story.submit({story.job()}).at(0);
  story.pass(2h);
  EXPECT_NE(story.record(next).instance, on);
  EXPECT_EQ(story.state(on), InstanceState::kIdle);
}

// Bug: it started jobs on hosts of the set.
TEST_F(TwoSetsTest, APlanThatWasUnderWayStartsNothingInAStoppedSet) {
  story.begin();
  const auto [job, on] = story.running();
  auto later = story.seen(on);
  later.epoch = 4;
  story.exited(on, job);
  story.plans_wait = true;
  story.host(on, model::AttemptCollected{{job, 1}, ""});
  ASSERT_EQ(story.state(on), InstanceState::kIdle);
  const auto next = story.submit({story.job()}).at(0);
  ASSERT_TRUE(story.plan);
  story.list({later});
  story.clear();
  story.say(*story.plan);
  EXPECT_EQ(story.record(next).state, WorkState::kQueued);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
}

TEST_F(TwoSetsTest, AStateIsOldThatAllSetsShowToBeOld) {
  begin();
  story.list({listed(9, 4)});
  auto other = listed(8, 5);
  other.set_id = "east";
  list_east({other});
  EXPECT_TRUE(story.all<EpochsCompared>().back().is_old);
  EXPECT_FALSE(submit(story));
}

TEST_F(TwoSetsTest, WhileTheFolderDoesNotKnowTheRowsOneSetIsEnough) {
  begin(doubted_site());
  story.list({listed(9, 5)});
  EXPECT_TRUE(story.all<EpochsCompared>().back().is_old);
}

// Bug: they stopped the site too, and the store kept such a number, which it cannot read.
TEST(EpochsTest, AnEpochThatIsFarAheadIsADamagedTag) {
  for (const std::uint64_t epoch : {3 + model::kEpochsBehindMax + 1, std::uint64_t{9} << 59,
                                    std::uint64_t{INT64_MAX}, UINT64_MAX}) {
    Story story;
    story.begin();
    story.list({listed(9, epoch)});
    EXPECT_THAT(story.all<EpochsCompared>(), IsEmpty()) << epoch;
    EXPECT_THAT(story.dispatcher.queries().instances(), SizeIs(1)) << "it is adopted";
    EXPECT_TRUE(submit(story));
  }
  Story story;
  story.begin();
  story.list({listed(9, 3 + model::kEpochsBehindMax)});
  EXPECT_THAT(story.all<EpochsCompared>(), SizeIs(1));
}

}  // namespace
}  // namespace hostler::dispatch

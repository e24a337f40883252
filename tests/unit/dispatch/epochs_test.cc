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

}  // namespace
}  // namespace hostler::dispatch

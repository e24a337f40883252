#include "tests/unit/dispatch/cards.h"
#include "tests/unit/dispatch/restored.h"

/// Who has which card after a restart, and of a restored state.
namespace hostler::dispatch {
namespace {

using model::AttemptId;
using model::AttemptPhase;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// j-5 runs on h-7 with card 1, and j-6 waits for one card.
model::Restored site_with_a_card() {
  auto out = busy_site();
  out.work[0].shape.needs = {.vcpus = 0, .gpus = 1, .ram = 0, .scratch = 0};
  out.attempts[0].cards = {"GPU-1"};
  auto next = job(WorkState::kQueued);
  next.record.id = {6};
  next.arrival = 6;
  next.shape.needs = out.work[0].shape.needs;
  out.work.push_back(next);
  out.last_work = out.last_arrival = 6;
  return out;
}

model::AttemptReport running(std::uint64_t job, std::vector<std::string> cards) {
  return {{{job}, 1}, AttemptPhase::kRunning, std::move(cards)};
}

TEST(CardRestartsTest, TheRowsSayWhoHasWhichCard) {
  // Also where the agent does not know any more with which cards it was started.
  for (const bool agent_knows : {true, false}) {
    CardSite story;
    story.begin(site_with_a_card());
    story.ready_with(
        {7}, listed({card(0), card(1)}),
        {running(5, agent_knows ? std::vector<std::string>{"GPU-1"} : std::vector<std::string>{})});
    EXPECT_THAT(story.starts(), ElementsAre(ElementsAre("GPU-0")));
  }
}

TEST(CardRestartsTest, TheEndOfAnAttemptAfterARestartFreesItsCardOnce) {
  CardSite story;
  story.begin(site_with_a_card());
  story.ready_with({7}, listed({card(1)}), {running(5, {"GPU-1"})});
  EXPECT_THAT(story.starts(), IsEmpty());
  story.exited({7}, {5});
  EXPECT_THAT(story.starts(), ElementsAre(ElementsAre("GPU-1")));
  const auto rows = story.journalled<model::AttemptChanged>();
  ASSERT_FALSE(rows.empty());
  EXPECT_THAT(rows.front().cards, ElementsAre("GPU-1")) << "the row of its end still has it";
}

// Its attempt goes on although the card is not there any more.
TEST(CardRestartsTest, ACardThatVanishedDuringTheRestartStaysWithItsAttempt) {
  CardSite story;
  story.begin(site_with_a_card());
  story.ready_with({7}, listed({card(0)}), {running(5, {"GPU-1"})});
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kRunning);
  EXPECT_THAT(story.starts(), ElementsAre(ElementsAre("GPU-0")));
}

TEST(CardRestartsTest, AnAttemptThatIsEndedHasItsCardUntilItHasEnded) {
  auto site = site_with_a_card();
  site.work.erase(site.work.begin());
  site.attempts.clear();
  CardSite story;
  story.begin(site);
  story.ready_with({7}, listed({card(0)}), {running(5, {"GPU-0"})});
  EXPECT_THAT(story.commands<model::KillAttempt>(), SizeIs(1));
  EXPECT_THAT(story.starts(), IsEmpty());
  story.exited({7}, {5});
  EXPECT_THAT(story.starts(), ElementsAre(ElementsAre("GPU-0")));
}

TEST(CardRestartsTest, AnAttemptThatIsTakenOverHasTheCardsThatItsHostReports) {
  auto site = site_with_a_card();
  site.work.erase(site.work.begin());
  site.attempts.clear();
  site.left_out = {{5, 5}};
  site.restored_epoch = 3;
  site.instances[0].record.restored = true;
  CardSite story;
  story.begin(site);
  story.ready_with({7}, listed({card(0), card(1)}), {running(5, {"GPU-0"})});
  const auto rows = story.journalled<model::AttemptChanged>();
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().attempt, (AttemptId{{5}, 1}));
  EXPECT_THAT(rows.front().cards, ElementsAre("GPU-0"));
  const auto holders = story.view({7}).cards;
  ASSERT_THAT(holders, SizeIs(2));
  EXPECT_EQ(holders[0].attempt, (AttemptId{{5}, 1}));
  for (const auto& start : story.starts()) EXPECT_THAT(start, ElementsAre("GPU-1"));
}

TEST(CardRestartsTest, AnAttemptThatIsFoundAgainHasTheCardsThatItsHostReports) {
  auto site = site_with_a_card();
  site.work[0].record.state = WorkState::kQueued;
  site.work[0].record.instance = {7};
  site.attempts.clear();
  site.work.pop_back();
  CardSite story;
  story.begin(site);
  story.clear();
  story.ready_with({7}, listed({card(0), card(1)}), {running(5, {"GPU-0"})});
  const auto rows = story.journalled<model::AttemptChanged>();
  ASSERT_FALSE(rows.empty());
  EXPECT_THAT(rows.front().cards, ElementsAre("GPU-0"));
  EXPECT_THAT(story.starts(), IsEmpty());
}

}  // namespace
}  // namespace hostler::dispatch

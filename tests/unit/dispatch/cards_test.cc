#include "tests/unit/dispatch/cards.h"

/// Which jobs and leases get which cards.
namespace hostler::dispatch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST(CardsTest, EachAttemptHasItsOwnCardsInItsRowBeforeItsStartLeaves) {
  CardSite story;
  story.begin();
  (void)story.submit({story.job_of(1), story.job_of(1)});
  story.boot_with(story.made(), listed({card(0), card(1)}));

  EXPECT_THAT(story.starts(), ElementsAre(ElementsAre("GPU-0"), ElementsAre("GPU-1")));
  const auto rows = story.journalled<model::AttemptChanged>();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_THAT(rows[0].cards, ElementsAre("GPU-0"));
  EXPECT_THAT(rows[1].cards, ElementsAre("GPU-1"));
}

TEST(CardsTest, TheThirdJobWaitsUntilACardIsFree) {
  auto site = two_cards();
  site.pools[0].sizes.max = 1;
  CardSite story(site);
  story.begin();
  const auto ids = story.submit({story.job_of(1), story.job_of(1), story.job_of(1)});
  const auto on = story.made();
  story.boot_with(on, listed({card(0), card(1)}));
  ASSERT_THAT(story.starts(), SizeIs(2));
  EXPECT_EQ(story.record(ids[2]).state, WorkState::kQueued);

  story.host(on, model::AttemptStarted{{ids[1], 1}, story.now.wall});
  story.exited(on, ids[1]);
  EXPECT_THAT(story.starts().back(), ElementsAre("GPU-1"));
  EXPECT_THAT(story.starts(), SizeIs(3));
}

TEST(CardsTest, AJobWithoutCardsGetsNone) {
  CardSite story;
  story.begin();
  (void)story.submit({story.job_of(1), story.job(1)});
  story.boot_with(story.made(), listed({card(0), card(1)}));
  EXPECT_THAT(story.starts(), UnorderedElementsAre(ElementsAre("GPU-0"), IsEmpty()));
}

TEST(CardsTest, AHostWithoutAReportHasTheNumberOfTheMenuAndItsJobsGetNoNames) {
  CardSite story;
  story.begin();
  (void)story.submit({story.job_of(1), story.job_of(1)});
  story.boot_with(story.made(), {});
  EXPECT_THAT(story.starts(), ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(CardsTest, ABadCardGetsNoJobAndTheRoomIsLess) {
  CardSite story;
  story.begin();
  (void)story.submit({story.job_of(1), story.job_of(1)});
  const auto on = story.made();
  story.boot_with(on, listed({card(0, "Xid 79"), card(1)}));
  EXPECT_THAT(story.starts(), ElementsAre(ElementsAre("GPU-1")));
  EXPECT_EQ(story.view(on).total.gpus, 1);
  EXPECT_THAT(story.ledger(), Contains(on.text() + " card_failed GPU-0"));
}

TEST(CardsTest, AWishForAKindIsMetByCardsOfThisKindOnly) {
  auto site = two_cards();
  site.types[0].resources.gpus = 3;
  site.types[0].gpu_groups = {{"a100", 0, 1}, {"t4", 0, 2}};
  site.pools[0].sizes.max = 1;
  CardSite story(site);
  story.begin();
  auto job = story.job_of(1);
  job.shape.constraints.gpu.kind = "a100";
  (void)story.submit({job});
  story.boot_with(story.made(),
                  listed({card(0, "", "a100-pcie"), card(1, "", "t4"), card(2, "", "t4")}));
  (void)story.submit({job});
  (void)story.submit({story.job_of(1)});
  EXPECT_THAT(story.starts(), ElementsAre(ElementsAre("GPU-0"), ElementsAre("GPU-1")));
}

TEST(CardsTest, ALeaseHasAllCardsOfItsHost) {
  auto site = two_cards();
  site.pools[0].leases = model::LeasePolicy{};
  CardSite story(site);
  story.begin();
  const auto lease = story.borrow(story.lease());
  const auto on = story.made();
  story.boot_with(on, listed({card(0), card(1)}));
  ASSERT_EQ(story.lease_state(lease), "granted");
  (void)story.submit({story.job_of(1)});
  EXPECT_THAT(story.starts(), IsEmpty());
  const auto view = story.view(on);
  EXPECT_EQ(view.card_counts.used, 2);
}

TEST(CardsTest, TheCardsOfAHostAreShownWithTheAttemptThatHasThem) {
  CardSite story;
  story.begin();
  const auto job = story.submit({story.job_of(1)}).at(0);
  const auto on = story.made();
  story.boot_with(on, listed({card(0), card(1, "Xid 79")}));
  const auto view = story.view(on);
  ASSERT_THAT(view.cards, SizeIs(2));
  EXPECT_EQ(view.cards[0].attempt, (model::AttemptId{job, 1}));
  EXPECT_EQ(view.cards[0].state, model::CardState::kUsed);
  EXPECT_EQ(view.cards[1].state, model::CardState::kBad);
  EXPECT_EQ(view.card_counts, (model::CardCounts{.free = 0, .used = 1, .bad = 1, .unknown = 0}));
  EXPECT_THAT(view.conditions,
              Contains(AllOf(HasSubstr("card 1 (a100, GPU-1)"), HasSubstr("Xid 79"))));
  EXPECT_EQ(view.guard, model::CardGuard::kBpf);
  for (const auto& one : story.dispatcher.queries().instances(story.now))
    EXPECT_THAT(one.cards, IsEmpty()) << "lists have numbers only";
}

TEST(CardsTest, CardsWithoutDeviceFilesAreShownAsUnguarded) {
  CardSite story;
  story.begin();
  (void)story.submit({story.job_of(1)});
  const auto on = story.made();
  auto bare = card(0);
  bare.files.clear();
  story.boot_with(on, listed({bare, card(1)}));
  EXPECT_THAT(story.view(on).conditions,
              ElementsAre("card 0 (a100, GPU-0) has no device files: nothing keeps other jobs from "
                          "it"));
  EXPECT_EQ(story.view(on).guard, model::CardGuard::kBpf);
  story.host(on, model::HostCards{listed({bare})});
  EXPECT_EQ(story.view(on).guard, model::CardGuard::kNone) << "there is nothing to guard";
}

TEST(CardsTest, CardsThatTheMenuNamesOtherwiseGetWorkAndWhySaysSo) {
  auto site = two_cards();
  site.types[0].gpu_groups = {{"grid-k520", 0, 2}};
  CardSite story(site);
  story.begin();
  (void)story.submit({story.job_of(1)});
  const auto on = story.made();
  story.boot_with(on, listed({card(0, "", "k520"), card(1, "", "k520")}));
  EXPECT_THAT(story.starts(), ElementsAre(ElementsAre("GPU-0")));
  EXPECT_EQ(story.record(on).health, model::Health::kHealthy);
  EXPECT_THAT(story.view(on).conditions,
              ElementsAre("none of its cards is of a kind that type small has on the menu: card 0 "
                          "(k520, GPU-0): set the kind of the type as the host lists it"));
}

// Bug: the view said that two cards were free, and none was given out: other jobs starved.
TEST(CardsTest, AHostOfTwoKindsWithoutAReportGoesOnWithOtherJobs) {
  auto site = two_cards();
  site.types[0].gpu_groups = {{"a100", 0, 1}, {"t4", 0, 1}};
  site.pools[0].sizes.max = 1;
  CardSite story(site);
  story.begin();
  (void)story.submit({story.job_of(1), story.job_of(1), story.job(1)});
  story.boot_with(story.made(), {});
  EXPECT_THAT(story.starts(), SizeIs(2)) << "the other job with a card waits";
}

TEST(CardsTest, ACardThatVanishedUnderItsAttemptIsShownAsBad) {
  CardSite story;
  story.begin();
  const auto job = story.submit({story.job_of(1)}).at(0);
  const auto on = story.made();
  story.boot_with(on, listed({card(0), card(1)}));
  story.host(on, model::HostCards{listed({card(1)})});
  const auto view = story.view(on);
  ASSERT_THAT(view.cards, SizeIs(2));
  EXPECT_EQ(view.cards[1].card.uuid, "GPU-0");
  EXPECT_EQ(view.cards[1].state, model::CardState::kBad);
  EXPECT_EQ(view.cards[1].attempt, (model::AttemptId{job, 1}));
  EXPECT_EQ(view.total.gpus, 2) << "its attempt has one still, and one is free";
  EXPECT_EQ(story.record(job).state, WorkState::kStarting);
}

}  // namespace
}  // namespace hostler::dispatch

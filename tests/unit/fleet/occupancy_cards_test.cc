#include <gmock/gmock.h>

#include "core/fleet/occupancy.h"
#include "tests/unit/fleet/cards.h"
#include "tests/unit/fleet/instances.h"

/// Who has which card of a host.
namespace hostler::fleet {
namespace {

using model::AttemptId;
using model::AttemptPhase;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr Mono kNow{100h};

/// Of a host of the type "g" with so many cards, which it has listed.
class CardsOfOne : public testing::Test {
 protected:
  void list(std::vector<model::Card> cards) {
    (void)occupancy_.report_cards(reading(std::move(cards)), kNow);
  }
  /// Puts an attempt of the job there; false: there are not enough cards.
  bool place(std::uint64_t job, std::int32_t gpus, const model::GpuWish& wish = {}) {
    auto cards = occupancy_.choose_cards(type_, gpus, wish);
    if (!cards) return false;
    PlacedAttempt placed;
    placed.attempt = {{job}, 1};
    placed.needs.gpus = gpus;
    placed.cards = *std::move(cards);
    occupancy_.add(std::move(placed));
    return true;
  }
  std::vector<std::string> cards_of(std::uint64_t job) {
    const auto* found = occupancy_.find({{job}, 1});
    return found == nullptr ? std::vector<std::string>{} : found->cards;
  }
  std::int32_t free() const { return occupancy_.room_of(type_).gpus - occupancy_.used().gpus; }
  /// The host reports that this attempt runs with the card.
  static model::AttemptReport report(std::uint64_t job, int index) {
    return {{{job}, 1}, AttemptPhase::kRunning, {uuid(index)}};
  }

  model::InstanceType type_ = type_of(4);
  Occupancy occupancy_;
};

TEST_F(CardsOfOne, EachAttemptGetsItsOwnCardsTheLowestIndicesFirst) {
  list({card(3), card(2), card(1), card(0)});
  EXPECT_TRUE(place(1, 1));
  EXPECT_TRUE(place(2, 2));
  EXPECT_FALSE(place(3, 2));
  EXPECT_TRUE(place(4, 1));
  EXPECT_THAT(cards_of(1), ElementsAre("GPU-0"));
  EXPECT_THAT(cards_of(2), ElementsAre("GPU-1", "GPU-2"));
  EXPECT_THAT(cards_of(4), ElementsAre("GPU-3"));
  EXPECT_EQ(free(), 0);
}

TEST_F(CardsOfOne, WorkWithoutCardsGetsNone) {
  list({card(0)});
  EXPECT_THAT(occupancy_.choose_cards(type_, 0, {}), Optional(IsEmpty()));
}

TEST_F(CardsOfOne, ACardIsFreedOnce) {
  list({card(0), card(1)});
  EXPECT_TRUE(place(1, 1));
  occupancy_.release({{1}, 1});
  EXPECT_TRUE(place(2, 1));
  EXPECT_THAT(cards_of(2), ElementsAre("GPU-0"));
  occupancy_.release({{1}, 1});
  EXPECT_TRUE(occupancy_.remove(AttemptId{{1}, 1}));
  EXPECT_TRUE(place(3, 1));
  EXPECT_THAT(cards_of(3), ElementsAre("GPU-1")) << "the other one is that of attempt 2";
}

TEST_F(CardsOfOne, ABadCardOrOneThatVanishedIsNotGivenOutAndStaysWithItsAttempt) {
  list({card(0), card(1), card(2), card(3)});
  EXPECT_TRUE(place(1, 1));
  list({card(0, "Xid 79"), card(1, "ECC"), card(3)});
  EXPECT_EQ(free(), 1);
  EXPECT_THAT(cards_of(1), ElementsAre("GPU-0"));
  EXPECT_THAT(occupancy_.choose_cards(type_, 1, {}), Optional(ElementsAre("GPU-3")));
  list({card(3)});
  EXPECT_EQ(occupancy_.holders().at("GPU-0"), (AttemptId{{1}, 1}));
  list({card(0), card(3)});
  EXPECT_THAT(occupancy_.choose_cards(type_, 1, {}), Optional(ElementsAre("GPU-3")))
      << "the card is there again, and its attempt has it";
}

TEST_F(CardsOfOne, TheRoomIsTheLeastOfTheMenuAndTheHealthyCards) {
  list({card(0), card(1), card(2, "ECC")});
  EXPECT_EQ(occupancy_.room_of(type_).gpus, 2);
  type_ = type_of(1);
  EXPECT_EQ(occupancy_.room_of(type_).gpus, 1);
  type_ = type_of(0);
  EXPECT_EQ(occupancy_.room_of(type_).gpus, 0);
}

TEST_F(CardsOfOne, AReadingThatFailsStopsNewWorkWithCardsOnly) {
  list({card(0), card(1)});
  EXPECT_TRUE(place(1, 1));
  (void)occupancy_.report_cards(failed_reading(), kNow);
  EXPECT_FALSE(place(2, 1));
  EXPECT_EQ(free(), 0);
  EXPECT_TRUE(place(3, 0));
  EXPECT_THAT(cards_of(1), ElementsAre("GPU-0"));
  list({card(0), card(1)});
  EXPECT_TRUE(place(4, 1));
  EXPECT_THAT(cards_of(4), ElementsAre("GPU-1"));
}

TEST_F(CardsOfOne, AHostWhoseFirstReadingFailsHasNoRoomForCards) {
  (void)occupancy_.report_cards(failed_reading(), kNow);
  EXPECT_EQ(occupancy_.room_of(type_).gpus, 0);
  EXPECT_FALSE(place(1, 1));
}

TEST_F(CardsOfOne, AHostThatTellsNothingHasTheNumberOfTheMenu) {
  (void)occupancy_.report_cards({}, kNow);
  EXPECT_EQ(occupancy_.room_of(type_).gpus, 4);
  EXPECT_TRUE(place(1, 3));
  EXPECT_THAT(cards_of(1), IsEmpty());
  EXPECT_EQ(occupancy_.free_groups(type_), (model::GpuGroups{{"", 0, 1}}));
  EXPECT_FALSE(place(2, 2));
}

TEST_F(CardsOfOne, WithoutAReportEachGroupMayHaveLostWhatIsInUse) {
  type_ = type_of(5, {{"a100", 0, 2}, {"t4", 0, 3}});
  EXPECT_TRUE(place(1, 1, {.kind = "a100"}));
  EXPECT_EQ(occupancy_.free_groups(type_), (model::GpuGroups{{"a100", 0, 1}, {"t4", 0, 2}}));
}

// Bug: no group had a free card for certain, so none was named, and their number was believed.
TEST_F(CardsOfOne, WithoutAReportTheRoomIsWhatIsInUseAndWhatIsFreeForCertain) {
  type_ = type_of(5, {{"a100", 0, 2}, {"t4", 0, 3}});
  EXPECT_EQ(free(), 5);
  EXPECT_TRUE(place(1, 1));
  EXPECT_EQ(free(), 3);
  EXPECT_TRUE(place(2, 2));
  EXPECT_EQ(free(), 0);
  EXPECT_FALSE(place(3, 1));
}

// It began before the host listed its cards, so it may use any of them.
TEST_F(CardsOfOne, WhileWorkHasCardsWithoutNamesNoneIsGivenOut) {
  EXPECT_TRUE(place(1, 1));
  list({card(0), card(1)});
  EXPECT_FALSE(place(2, 1));
  EXPECT_EQ(free(), 0);
  occupancy_.release({{1}, 1});
  EXPECT_TRUE(place(2, 1));
}

TEST_F(CardsOfOne, AnAttemptThatTheHostReportsHasItsCardsThoughItIsNotPlacedHere) {
  list({card(0), card(1), card(2)});
  occupancy_.report_attempts({report(8, 0), report(9, 1)});
  occupancy_.leave_alone({{8}, 1}, AttemptPhase::kRunning);
  occupancy_.await_end({{9}, 1});
  EXPECT_THAT(occupancy_.choose_cards(type_, 1, {}), Optional(ElementsAre("GPU-2")));
  EXPECT_FALSE(place(1, 2));
  EXPECT_TRUE(occupancy_.forget_unplaced(AttemptId{{9}, 1}));
  EXPECT_THAT(occupancy_.choose_cards(type_, 1, {}), Optional(ElementsAre("GPU-1")));
  occupancy_.leave_alone({{8}, 1}, AttemptPhase::kEnded);
  EXPECT_THAT(occupancy_.choose_cards(type_, 1, {}), Optional(ElementsAre("GPU-0")));
}

TEST_F(CardsOfOne, AnAttemptHasTheCardsOfItsRowAndThoseThatItsHostReports) {
  list({card(0), card(1), card(2)});
  EXPECT_TRUE(place(1, 1));
  occupancy_.report_attempts({report(1, 1)});
  EXPECT_THAT(occupancy_.choose_cards(type_, 1, {}), Optional(ElementsAre("GPU-2")));
  occupancy_.release({{1}, 1});
  EXPECT_TRUE(place(2, 3)) << "all are free";
}

TEST_F(CardsOfOne, ACardThatTwoAttemptsClaimIsFreeWhenBothHaveEnded) {
  type_ = type_of(1);
  list({card(0)});
  occupancy_.report_attempts({report(8, 0), report(9, 0)});
  occupancy_.await_end({{8}, 1});
  occupancy_.await_end({{9}, 1});
  EXPECT_TRUE(occupancy_.forget_unplaced(AttemptId{{8}, 1}));
  EXPECT_FALSE(place(1, 1));
  EXPECT_TRUE(occupancy_.forget_unplaced(AttemptId{{9}, 1}));
  EXPECT_TRUE(place(1, 1));
}

TEST_F(CardsOfOne, ACardThatTheHostReportsTwiceForAnAttemptIsOneCard) {
  occupancy_.report_attempts({{{{8}, 1}, AttemptPhase::kRunning, {uuid(1), uuid(0), uuid(1)}}});
  EXPECT_THAT(occupancy_.reported_cards({{8}, 1}), ElementsAre("GPU-1", "GPU-0"));
}

TEST_F(CardsOfOne, AHostMayClaimAnyNumberOfCardsAndFewAreKept) {
  std::vector<model::AttemptReport> many;
  for (std::uint64_t job = 1; job <= 100; ++job) {
    model::AttemptReport one{{{job}, 1}, AttemptPhase::kRunning, {}};
    for (int i = 0; i < model::kCardsMax; ++i)
      one.cards.push_back(std::to_string(job) + "-" + std::to_string(i));
    many.push_back(std::move(one));
  }
  occupancy_.report_attempts(many);
  EXPECT_LE(occupancy_.holders().size(), 4U * model::kCardsMax);
}

TEST_F(CardsOfOne, AClaimHasAllCards) {
  list({card(0), card(1)});
  occupancy_.add(Claim{{5, model::WorkKind::kLease}, occupancy_.room_of(type_), true});
  EXPECT_FALSE(place(1, 1));
  EXPECT_THAT(occupancy_.free_groups(type_), IsEmpty());
  EXPECT_TRUE(occupancy_.remove(model::WorkId{5, model::WorkKind::kLease}));
  EXPECT_TRUE(place(1, 2));
}

TEST_F(CardsOfOne, CardsOfOneItemAreOfOneGroupTheSmallestThatSuffices) {
  type_ = type_of(5, {{"a100", 0, 3}, {"t4", 0, 2}});
  list({card(0), card(1), card(2), card(3, "", "t4"), card(4, "", "t4")});
  EXPECT_THAT(occupancy_.choose_cards(type_, 2, {}), Optional(ElementsAre("GPU-3", "GPU-4")));
  EXPECT_THAT(occupancy_.choose_cards(type_, 2, {.kind = "a100"}),
              Optional(ElementsAre("GPU-0", "GPU-1")));
  EXPECT_FALSE(occupancy_.choose_cards(type_, 4, {}));
  EXPECT_FALSE(occupancy_.choose_cards(type_, 3, {.kind = "t4"}));
}

}  // namespace
}  // namespace hostler::fleet

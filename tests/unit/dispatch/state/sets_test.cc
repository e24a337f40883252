#include "core/dispatch/state/sets.h"

#include <gmock/gmock.h>

#include "tests/unit/dispatch/story.h"

namespace hostler::dispatch {
namespace {

using model::Market;
using testing::ElementsAre;

TEST(SetsTest, TwoListsOfALargeSetHaveAPauseBetweenThem) {
  const auto policy = small_site();
  Sets sets(policy);
  Set& set = sets.at(0);
  set.lists.sent(Mono(1h));
  set.lists.answered();
  set.shown.count = 1000;
  set.want_list(policy.sets[0], Mono(1h));
  EXPECT_EQ(set.lists.next(), Mono(1h + 2s));
}

TEST(SetsTest, AWishForALaterListDoesNotPutOffAnEarlierOne) {
  const auto policy = small_site();
  Sets sets(policy);
  Set& set = sets.at(0);
  set.want_list(policy.sets[0], Mono(1h));
  set.want_list(policy.sets[0], Mono(2h));
  EXPECT_EQ(set.lists.next(), Mono(1h));
}

TEST(SetsTest, ASetWithACallUnderWayIsNotWokenForTheSame) {
  const auto policy = small_site();
  Sets sets(policy);
  Set& set = sets.at(0);
  set.opening.want_now(Mono(1h));
  EXPECT_EQ(sets.next_wake(), Mono(1h));
  set.opening.sent(Mono{});
  EXPECT_EQ(sets.next_wake(), fleet::kNever);
  set.opening.opened();
  set.lists.opened(Mono(2h));
  EXPECT_EQ(sets.next_wake(), Mono(2h));
  set.lists.sent(Mono(2h));
  EXPECT_EQ(sets.next_wake(), fleet::kNever);
}

TEST(SetsTest, ASpotInstanceIsNeverSwitchedOff) {
  const auto policy = small_site();
  Sets sets(policy);
  sets.at(0).info.stop = sets.at(0).info.has_power = true;
  EXPECT_TRUE(sets.has_power(0, Market::kOnDemand));
  EXPECT_FALSE(sets.has_power(0, Market::kSpot));
}

TEST(OpeningTest, ASetThatWasOpenBeginsWithTheShortestPauseAgain) {
  Opening opening;
  for (int i = 0; i < 5; ++i) opening.failed({}, Mono(1h));
  EXPECT_GT(opening.next(), Mono(1h + 1s));
  EXPECT_TRUE(opening.opened());
  EXPECT_FALSE(opening.opened());
  EXPECT_TRUE(opening.closed());
  opening.failed({}, Mono(2h));
  EXPECT_EQ(opening.next(), Mono(2h + 1s));
}

TEST(AccountOfASetTest, AnswersFromBeforeAnAccountWasAcceptedSayNothing) {
  Account account;
  model::SetInfo ours, theirs;
  ours.account_id = "1";
  theirs.account_id = "2";
  EXPECT_TRUE(account.use("west", ours, Mono(1h)));
  EXPECT_FALSE(account.use("west", ours, Mono(2h))) << "nothing has changed";
  EXPECT_FALSE(account.agrees(theirs));
  EXPECT_TRUE(account.refuse(theirs));
  EXPECT_FALSE(account.refuse(theirs)) << "it is no news";
  const auto accepted = account.accept();
  EXPECT_TRUE(account.use("west", accepted, Mono(3h)));
  EXPECT_EQ(account.stored().account, "2");
  EXPECT_EQ(account.answers_from(), Mono(3h));
}

TEST(AccountOfASetTest, ADamagedAccountAgreesWithNoneUntilOneIsAccepted) {
  Account account;
  account.restore_damaged();
  model::SetInfo reported;
  EXPECT_FALSE(account.agrees(reported));
  account.refuse(reported);
  EXPECT_TRUE(account.agrees(account.accept()));
}

TEST(OmissionsTest, ListsThatOmitTheSameInstancesHaveOneNumber) {
  Omissions omissions;
  omissions.take({});
  EXPECT_EQ(omissions.list_number(), 1U);
  omissions.take({{1}, {2}});
  omissions.take({{1}, {2}});
  EXPECT_EQ(omissions.list_number(), 2U);
  EXPECT_THAT(omissions.instances(), ElementsAre(model::InstanceId{1}, model::InstanceId{2}));
}

TEST(OmissionsTest, ThePatienceBeginsAnewWhenAnswersAreAwaitedAgain) {
  Omissions omissions;
  omissions.begin_doubt(/*reported=*/true, {Mono(1h), Wall{}});
  EXPECT_EQ(omissions.patience_ends(), Mono(1h + 10min));
  omissions.set_overdue();
  EXPECT_FALSE(omissions.awaits_answers());
  EXPECT_TRUE(omissions.doubt()->is_asking()) << "the answers may still come";
  EXPECT_FALSE(omissions.set_asking(true, Mono(2h)));
  EXPECT_TRUE(omissions.set_asking(false, Mono(2h)));
  EXPECT_TRUE(omissions.set_asking(true, Mono(3h)));
  EXPECT_EQ(omissions.patience_ends(), Mono(3h + 10min));
}

TEST(QuotaGroupsOfASetTest, TheAnswerForATypeThatHasChangedIsNotItsGroup) {
  QuotaGroups groups;
  model::InstanceType type;
  type.name = "small";
  groups.asked(type);
  EXPECT_EQ(groups.of(type), "");
  groups.set(type, "family a");
  EXPECT_EQ(groups.of(type), "family a");
  type.resources.vcpus += 1;
  EXPECT_EQ(groups.of(type), "");
  EXPECT_FALSE(groups.wants(type));
}

TEST(QuotaGroupsOfASetTest, ADriverWithoutGroupsIsNotAskedAboutNewTypes) {
  QuotaGroups groups;
  groups.unsupported();
  groups.types_changed(Mono(1h));
  EXPECT_EQ(groups.next(), fleet::kNever);
  groups.driver_replaced();
  groups.types_changed(Mono(1h));
  EXPECT_EQ(groups.next(), Mono(1h));
}

}  // namespace
}  // namespace hostler::dispatch

#include "core/daemon/succession.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(SuccessionTest, TheDriverBeforeServesUntilTheNewOneTakesOver) {
  Succession drivers;
  const auto fresh = drivers.add_successor();
  EXPECT_EQ(drivers.in_use(), 0U);
  EXPECT_TRUE(drivers.opened(fresh));
  EXPECT_EQ(drivers.in_use(), 0U) << "its account is compared first";
  EXPECT_EQ(drivers.newest_opened(), fresh);
  drivers.take_over(fresh);
  EXPECT_EQ(drivers.in_use(), fresh);
}

TEST(SuccessionTest, ADriverThatTookOverLeavesTheOneBeforeItsCalls) {
  Succession drivers;
  drivers.begin_use(0);  // a caller
  drivers.begin_use(0);  // and its call
  const auto fresh = drivers.add_successor();
  (void)drivers.opened(fresh);
  EXPECT_THAT(drivers.take_closable(), IsEmpty()) << "it is in use";
  drivers.take_over(fresh);
  drivers.end_use(0);
  EXPECT_THAT(drivers.take_closable(), IsEmpty()) << "a call is not over";
  EXPECT_EQ(drivers.draining(), 1U);
  drivers.end_use(0);
  EXPECT_THAT(drivers.take_closable(), ElementsAre(0));
  EXPECT_THAT(drivers.take_closable(), IsEmpty()) << "once";
  EXPECT_EQ(drivers.draining(), 0U);
}

TEST(SuccessionTest, ALaterSuccessorTakesThePlaceOfOneThatIsNotOpenYet) {
  Succession drivers;
  const auto first = drivers.add_successor();
  drivers.begin_use(first);  // its open
  const auto second = drivers.add_successor();
  EXPECT_FALSE(drivers.opened(first)) << "it was dropped";
  drivers.end_use(first);
  EXPECT_THAT(drivers.take_closable(), ElementsAre(first));
  EXPECT_EQ(drivers.successor(), second);
  EXPECT_TRUE(drivers.opened(second));
}

TEST(SuccessionTest, ASuccessorThatDoesNotOpenIsDropped) {
  Succession drivers;
  const auto fresh = drivers.add_successor();
  drivers.drop(fresh);
  EXPECT_EQ(drivers.in_use(), 0U);
  EXPECT_FALSE(drivers.successor());
  EXPECT_THAT(drivers.take_closable(), ElementsAre(fresh));
  drivers.drop(fresh);
  EXPECT_THAT(drivers.take_closable(), IsEmpty());
}

// A commit stands between the open and the take-over, and a reload may come meanwhile.
TEST(SuccessionTest, OneThatWasOpenedIsTakenIntoUseWhateverComesAfterIt) {
  Succession drivers;
  const auto first = drivers.add_successor();
  (void)drivers.opened(first);
  const auto second = drivers.add_successor();
  drivers.drop(first);
  (void)drivers.opened(second);
  EXPECT_THAT(drivers.take_closable(), IsEmpty());
  drivers.take_over(first);
  EXPECT_EQ(drivers.in_use(), first);
  drivers.take_over(second);
  EXPECT_EQ(drivers.in_use(), second);
  EXPECT_THAT(drivers.take_closable(), UnorderedElementsAre(0, first));
}

TEST(SuccessionTest, AReplacementIsInUseAtOnce) {
  Succession drivers;
  const auto waiting = drivers.add_successor();
  const auto fresh = drivers.replace();
  EXPECT_EQ(drivers.in_use(), fresh);
  EXPECT_FALSE(drivers.opened(waiting));
  EXPECT_THAT(drivers.take_closable(), UnorderedElementsAre(0, waiting));
}

}  // namespace
}  // namespace hostler::daemon

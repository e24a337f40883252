#include "core/pushed/handshake.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>

namespace hostler::pushed {
namespace {

using model::InstanceId;
using Ids = std::set<InstanceId>;

constexpr InstanceId kHost{7}, kOther{8};
constexpr std::uint64_t kBase = 1000;

/// The host is named by the returned answer.
std::uint64_t name(Handshake& shake, InstanceId id = kHost) {
  shake.planned({id});
  return shake.answer().number;
}

TEST(HandshakeTest, NothingIsAcknowledgedBeforeAPushHasSeenTheAnswerThatNamesTheHost) {  // 5.3.2
  Handshake shake(kBase);
  const auto before = shake.answer().number;
  shake.planned({kHost});
  shake.pushed(before, {}, {});
  EXPECT_FALSE(shake.is_acknowledged(kHost));
  const auto named = shake.answer();
  EXPECT_EQ(named.going, std::vector{kHost});
  shake.pushed(before, {}, {});
  EXPECT_FALSE(shake.is_acknowledged(kHost));
  shake.pushed(named.number, {}, {});
  EXPECT_TRUE(shake.is_acknowledged(kHost));
}

TEST(HandshakeTest, ALaterAnswerAcknowledgesToo) {
  Handshake shake(kBase);
  name(shake);
  shake.pushed(shake.answer().number, {}, {});
  EXPECT_TRUE(shake.is_acknowledged(kHost));
}

TEST(HandshakeTest, APushThatCallsTheHostBusyTakesItOffTheList) {
  Handshake shake(kBase);
  const auto named = name(shake);
  shake.pushed(named, {kHost}, {});
  EXPECT_FALSE(shake.is_going(kHost));
  EXPECT_TRUE(shake.answer().going.empty());
}

TEST(HandshakeTest, ABrokenPromiseVoidsTheAcknowledgement) {
  Handshake shake(kBase);
  const auto named = name(shake);
  shake.pushed(named, {}, {});
  shake.pushed(named, {kHost}, {});
  EXPECT_FALSE(shake.is_acknowledged(kHost));
  shake.planned({kHost});
  shake.pushed(named, {}, {});
  EXPECT_FALSE(shake.is_acknowledged(kHost)) << "it is named anew, and needs a new answer";
}

TEST(HandshakeTest, AHostThatIsTooOldStaysNamedWhileItIsBusy) {
  Handshake shake(kBase);
  const auto named = name(shake);
  shake.pushed(named, {kHost}, {kHost});
  EXPECT_TRUE(shake.is_going(kHost));
  EXPECT_FALSE(shake.is_acknowledged(kHost));
  shake.pushed(named, {}, {kHost});
  EXPECT_TRUE(shake.is_acknowledged(kHost));
  shake.pushed(named, {kHost}, {kHost});
  EXPECT_FALSE(shake.is_acknowledged(kHost));
}

TEST(HandshakeTest, APlanThatNamesTheHostNoMoreVoids) {
  Handshake shake(kBase);
  const auto named = name(shake);
  shake.pushed(named, {}, {});
  shake.planned({kOther});
  EXPECT_FALSE(shake.is_going(kHost));
  shake.planned({kHost});
  shake.pushed(named, {}, {});
  EXPECT_FALSE(shake.is_acknowledged(kHost));
}

TEST(HandshakeTest, ANewSessionKnowsOfNoAnswerToTheOneBefore) {
  Handshake shake(kBase);
  const auto named = name(shake);
  shake.pushed(named, {}, {});
  shake.session_changed();
  EXPECT_FALSE(shake.is_acknowledged(kHost));
  shake.pushed(named, {}, {});
  EXPECT_FALSE(shake.is_acknowledged(kHost));
  shake.pushed(shake.answer().number, {}, {});
  EXPECT_TRUE(shake.is_acknowledged(kHost));
}

TEST(HandshakeTest, NumbersOfOtherStartsAndOfTheFutureAcknowledgeNothing) {
  Handshake shake(kBase);
  const auto named = name(shake);
  for (const std::uint64_t seen : {std::uint64_t{0}, kBase, kBase - 1, named + 1, UINT64_MAX}) {
    shake.pushed(seen, {}, {});
    EXPECT_FALSE(shake.is_acknowledged(kHost)) << seen;
  }
}

TEST(HandshakeTest, AnswersOfTwoStartsAreFarApartAndExactInJson) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t epoch = 0; epoch < 1000; ++epoch) {
    const auto base = answers_base(epoch);
    EXPECT_LT(base, std::uint64_t{1} << 53U);
    const auto after = seen.lower_bound(base);
    EXPECT_TRUE(after == seen.end() || *after - base > 1'000'000U);
    EXPECT_TRUE(after == seen.begin() || base - *std::prev(after) > 1'000'000U);
    seen.insert(base);
  }
}

TEST(HandshakeTest, AHostThatEndsIsNamedUntilItsInstanceIsGone) {  // 5.3.2
  Handshake shake(kBase);
  shake.pushed(name(shake), {}, {});
  shake.ending({kHost});
  shake.planned({});
  EXPECT_EQ(shake.answer().going, std::vector{kHost});
  shake.pushed(shake.last(), {kHost}, {});
  EXPECT_EQ(shake.answer().going, std::vector{kHost}) << "a broken promise";
  shake.session_changed();
  EXPECT_EQ(shake.answer().going, std::vector{kHost});
  shake.ending({});
  EXPECT_TRUE(shake.answer().going.empty());
}

TEST(HandshakeTest, AHostThatEndsWithoutHandshakeIsNamedToo) {
  Handshake shake(kBase);
  shake.ending({kHost});
  EXPECT_EQ(shake.answer().going, std::vector{kHost});
}

TEST(HandshakeTest, AHostThatEndsNoMoreNeedsANewAcknowledgement) {
  Handshake shake(kBase);
  shake.ending({kHost});
  shake.pushed(shake.answer().number, {}, {});
  EXPECT_TRUE(shake.is_acknowledged(kHost));
  shake.ending({});
  shake.planned({kHost});
  EXPECT_FALSE(shake.is_acknowledged(kHost));
}

}  // namespace
}  // namespace hostler::pushed

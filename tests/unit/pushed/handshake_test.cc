#include "core/pushed/handshake.h"

#include <gtest/gtest.h>

#include <random>
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
    EXPECT_LT(base, std::uint64_t{1} << 52U);
    const auto after = seen.lower_bound(base);
    if (after != seen.end()) EXPECT_GT(*after - base, 1'000'000U);
    if (after != seen.begin()) EXPECT_GT(base - *std::prev(after), 1'000'000U);
    seen.insert(base);
  }
}

/// A scheduler that keeps its promise, and a network that delays both ways.
TEST(HandshakeTest, NoHostIsAcknowledgedOnWhichAnHonestSchedulerRunsSomething) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
    Handshake shake(kBase);
    Ids busy, promised, hosts{InstanceId{1}, InstanceId{2}, InstanceId{3}};
    std::uint64_t acted_on = 0, ended = 0;
    for (int step = 0; step < 200; ++step) {
      if (chance(50)) {
        Ids going;
        for (const auto id : hosts)
          if (chance(60)) going.insert(id);
        shake.planned(going);
      }
      const auto answer_lost = chance(30);
      shake.pushed(acted_on, busy, {});
      for (const auto id : hosts) {
        if (!shake.is_acknowledged(id)) continue;
        ASSERT_FALSE(busy.contains(id)) << "seed " << seed << ", step " << step;
        ASSERT_TRUE(promised.contains(id));
        ++ended;
      }
      const auto answer = shake.answer();
      // The promise holds from the push that acknowledges: what was placed before is busy by then.
      for (const auto id : hosts)
        if (chance(40) && !promised.contains(id)) busy.insert(id);
      for (const auto id : hosts)
        if (chance(30)) busy.erase(id);
      if (answer_lost) continue;
      acted_on = answer.number;
      promised = {answer.going.begin(), answer.going.end()};
    }
    EXPECT_GT(ended, 0U) << seed;
  }
}

}  // namespace
}  // namespace hostler::pushed

// When processes of drivers are started, used and ended: by story, and through random days.
#include "core/driver_host/parent/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::driver_host {
namespace {

using namespace std::chrono_literals;

template <class T>
std::vector<T> only(const std::vector<Supervisor::Action>& actions) {
  std::vector<T> out;
  for (const auto& action : actions)
    if (const auto* found = std::get_if<T>(&action)) out.push_back(*found);
  return out;
}

class SupervisorTest : public testing::Test {
 protected:
  /// What it wants to start now, if that is one process.
  ChildId start() {
    const auto started = only<Supervisor::Start>(supervisor.next(now));
    EXPECT_EQ(started.size(), 1U);
    return started.empty() ? 0 : started.front().child;
  }
  ChildId open() {
    const ChildId child = start();
    supervisor.on_hello(child, now);
    EXPECT_EQ(only<Supervisor::Open>(supervisor.next(now)).size(), 1U);
    supervisor.on_opened(child, now);
    return child;
  }

  SteadyTime now{1h};
  Supervisor supervisor{Supervisor::Limits{}, 1};
};

TEST_F(SupervisorTest, StartsAndOpensOneProcessOnceTheSetIsWanted) {
  EXPECT_TRUE(supervisor.next(now).empty());
  supervisor.want_open(now);

  const ChildId child = open();

  EXPECT_EQ(supervisor.current(), child);
  EXPECT_TRUE(supervisor.next(now).empty());
}

TEST_F(SupervisorTest, AnOutdatedProcessIsClosedOnceItIsIdleAndAnotherIsOpen) {
  supervisor.want_open(now);
  const ChildId outdated = open();
  supervisor.on_idle(outdated, false);

  supervisor.on_outdated(outdated, now);
  const ChildId fresh = open();

  EXPECT_EQ(supervisor.current(), fresh);
  EXPECT_TRUE(supervisor.next(now).empty()) << "calls go on in the old one";
  supervisor.on_idle(outdated, true);
  const auto closed = only<Supervisor::Close>(supervisor.next(now));
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed.front().child, outdated);
}

// Bug: a driver that said after each open that its files had changed had 7.5 processes a second.
TEST_F(SupervisorTest, AProcessThatIsOutdatedAgainAndAgainGoesOnForAWhileThatGrows) {
  supervisor.want_open(now);
  ChildId child = open();
  const SteadyTime end = now + 10min;
  while (now < end) {
    supervisor.on_outdated(child, now);
    if (supervisor.current() == child) {
      EXPECT_TRUE(only<Supervisor::Start>(supervisor.next(now)).empty()) << "it takes calls";
      now += 100ms;
      supervisor.on_pong(child, now);
      continue;
    }
    const ChildId outdated = std::exchange(child, open());
    EXPECT_EQ(only<Supervisor::Close>(supervisor.next(now)).size(), 1U);
    EXPECT_FALSE(supervisor.on_exit(outdated, now));
  }
  EXPECT_LE(child, 12U);
  EXPECT_GE(child, 5U);
  EXPECT_TRUE(supervisor.goes_on_until(now));
  now += 11min;
  EXPECT_FALSE(supervisor.goes_on_until(now));
  supervisor.on_outdated(child, now);
  EXPECT_NE(supervisor.current(), child) << "files of a machine that change now and then";
}

// Bug: the open that waited for the next process was blamed for the end of the one before.
TEST_F(SupervisorTest, TheEndOfAnOutdatedProcessLeavesItsSuccessor) {
  supervisor.want_open(now);
  const ChildId outdated = open();
  supervisor.on_idle(outdated, false);
  supervisor.on_outdated(outdated, now);
  const ChildId fresh = only<Supervisor::Start>(supervisor.next(now)).at(0).child;

  supervisor.on_exit(outdated, now);
  EXPECT_TRUE(supervisor.has_successor());

  supervisor.on_exit(fresh, now);
  EXPECT_FALSE(supervisor.has_successor());
}

TEST_F(SupervisorTest, ACrashIsFollowedByAnotherProcessAfterAPauseThatGrows) {
  supervisor.want_open(now);
  Duration before{};
  for (int crash = 0; crash < 4; ++crash) {
    supervisor.on_exit(open(), now);
    EXPECT_TRUE(supervisor.next(now).empty()) << "not at once";
    const Duration pause = *supervisor.wakes_at() - now;
    EXPECT_GT(pause, before);
    EXPECT_LT(pause, 2s);
    before = pause;
    now += pause;
  }
  EXPECT_FALSE(supervisor.paused_until(now));
}

TEST_F(SupervisorTest, AfterFiveCrashesItPausesForAMinuteAndThenTriesOnce) {
  supervisor.want_open(now);
  for (int crash = 0; crash < 5; ++crash) {
    now = std::max(now, supervisor.wakes_at().value_or(now));
    supervisor.on_exit(open(), now);
  }

  const auto until = supervisor.paused_until(now);
  ASSERT_TRUE(until);
  EXPECT_GT(*until - now, 30s);
  EXPECT_LT(*until - now, 2min);
  now = *until;
  EXPECT_FALSE(supervisor.paused_until(now));
  EXPECT_EQ(supervisor.current(), std::nullopt);
  EXPECT_EQ(open(), 6U);
}

TEST_F(SupervisorTest, CrashesOfLongAgoAreForgotten) {
  supervisor.want_open(now);
  for (int crash = 0; crash < 20; ++crash) {
    now = std::max(now, supervisor.wakes_at().value_or(now));
    supervisor.on_exit(open(), now);
    now += 11min;
  }
  EXPECT_FALSE(supervisor.paused_until(now));
}

TEST_F(SupervisorTest, WhileACallHangsASecondProcessTakesTheNewOnes) {
  supervisor.want_open(now);
  const ChildId first = open();
  supervisor.on_idle(first, false);

  supervisor.on_hang(first);
  EXPECT_EQ(supervisor.current(), std::nullopt);
  const ChildId second = open();

  EXPECT_EQ(supervisor.current(), second);
  EXPECT_FALSE(supervisor.is_suspended());
  supervisor.on_hang(second);
  EXPECT_TRUE(supervisor.is_suspended());
  EXPECT_TRUE(only<Supervisor::Start>(supervisor.next(now)).empty()) << "never a third";
  supervisor.on_abandoned(first, "list");
  const auto kills = only<Supervisor::Kill>(supervisor.next(now));
  ASSERT_EQ(kills.size(), 1U);
  EXPECT_EQ(kills[0].child, first);
  EXPECT_EQ(kills[0].why, "R31: list hangs");
  supervisor.on_exit(first, now);
  EXPECT_EQ(start(), 3U) << "a process that hung is replaced at once";
}

TEST_F(SupervisorTest, AProcessWhoseCallsCameBackIsUsedAgainOrClosed) {
  supervisor.want_open(now);
  const ChildId first = open();
  supervisor.on_idle(first, false);
  supervisor.on_hang(first);
  supervisor.on_recovered(first);
  EXPECT_EQ(supervisor.current(), first) << "there is no other yet";

  supervisor.on_hang(first);
  const ChildId second = open();
  supervisor.on_recovered(first);
  EXPECT_TRUE(only<Supervisor::Close>(supervisor.next(now)).empty()) << "a call is in it";
  supervisor.on_idle(first, true);
  const auto closed = only<Supervisor::Close>(supervisor.next(now));
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].child, first);
  supervisor.on_exit(first, now);
  EXPECT_EQ(supervisor.crashes(), 0U);
  EXPECT_EQ(supervisor.current(), second);
}

TEST_F(SupervisorTest, AProcessThatDoesNotAnswerIsKilled) {
  supervisor.want_open(now);
  const ChildId child = open();
  now += 10s;
  EXPECT_EQ(only<Supervisor::Ping>(supervisor.next(now)).size(), 1U);
  now += 20s;
  EXPECT_EQ(only<Supervisor::Kill>(supervisor.next(now)).size(), 1U);
  supervisor.on_pong(child, now);
  EXPECT_EQ(supervisor.current(), std::nullopt);
}

TEST_F(SupervisorTest, AFailedOpenIsRepeatedOnlyForASetThatWasOpen) {
  supervisor.want_open(now);
  const ChildId child = start();
  supervisor.on_hello(child, now);
  supervisor.next(now);
  supervisor.on_open_failed(child, now);
  EXPECT_TRUE(supervisor.next(now + 5s).empty()) << "the daemon decides when";
  supervisor.want_open(now);
  EXPECT_EQ(only<Supervisor::Open>(supervisor.next(now)).size(), 1U);
  supervisor.on_opened(child, now);

  supervisor.on_exit(child, now);
  now = *supervisor.wakes_at();
  const ChildId next = start();
  supervisor.on_hello(next, now);
  EXPECT_EQ(only<Supervisor::Open>(supervisor.next(now)).size(), 1U);
  supervisor.on_open_failed(next, now);
  EXPECT_TRUE(supervisor.next(now).empty());
  EXPECT_EQ(only<Supervisor::Open>(supervisor.next(*supervisor.wakes_at())).size(), 1U);
}

TEST_F(SupervisorTest, AtTheEndEachProcessIsClosedOnceItIsIdleAndKilledIfItHangs) {
  supervisor.want_open(now);
  const ChildId child = open();
  supervisor.on_idle(child, false);
  supervisor.stop(now);
  EXPECT_TRUE(supervisor.next(now).empty());
  supervisor.on_idle(child, true);
  EXPECT_EQ(only<Supervisor::Close>(supervisor.next(now)).size(), 1U);
  now += 5s;
  const auto kills = only<Supervisor::Kill>(supervisor.next(now));
  ASSERT_EQ(kills.size(), 1U);
  EXPECT_THAT(kills[0].why, testing::HasSubstr("R25"));
  supervisor.on_exit(child, now);
  EXPECT_FALSE(supervisor.has_children());
  EXPECT_TRUE(supervisor.next(now + 1h).empty());
}

/// Events in any order, as a driver that crashes, hangs and recovers makes them.
TEST(SupervisorDaysTest, NeverHasMoreThanTwoProcessesAndAlwaysComesBack) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    Supervisor supervisor({}, seed);
    SteadyTime now{1h};
    std::map<ChildId, bool> alive;  // value: has said hello
    std::map<ChildId, SteadyTime> killed;
    std::vector<SteadyTime> starts;
    supervisor.want_open(now);
    const auto act = [&] {
      for (const auto& action : supervisor.next(now)) {
        if (const auto* s = std::get_if<Supervisor::Start>(&action)) {
          alive.emplace(s->child, false);
          starts.push_back(now);
        } else if (const auto* o = std::get_if<Supervisor::Open>(&action)) {
          if (random.chance(0.8))
            supervisor.on_opened(o->child, now);
          else
            supervisor.on_open_failed(o->child, now);
        } else if (const auto* k = std::get_if<Supervisor::Kill>(&action)) {
          killed.emplace(k->child, now);
        } else if (const auto* c = std::get_if<Supervisor::Close>(&action)) {
          killed.emplace(c->child, now);
        }
      }
    };
    for (int step = 0; step < 300; ++step) {
      now += Duration(random.below(3'000'000'000ULL));
      act();
      ASSERT_LE(alive.size(), 2U) << "seed " << seed;
      if (const auto current = supervisor.current()) {
        ASSERT_TRUE(alive.contains(*current)) << "seed " << seed;
        ASSERT_FALSE(killed.contains(*current)) << "seed " << seed;
      }
      if (alive.empty()) continue;
      auto chosen = alive.begin();
      std::advance(chosen, static_cast<long>(random.below(alive.size())));
      const ChildId child = chosen->first;
      if (killed.contains(child) || random.chance(0.1)) {
        supervisor.on_exit(child, now);
        alive.erase(child), killed.erase(child);
      } else if (!chosen->second) {
        chosen->second = true;
        supervisor.on_hello(child, now);
      } else {
        switch (random.below(7)) {
          case 0:
            supervisor.on_hang(child);
            break;
          case 1:
            supervisor.on_recovered(child);
            break;
          case 2:
            supervisor.on_abandoned(child, "list");
            break;
          case 4:
            supervisor.on_outdated(child, now);
            break;
          case 3:
            supervisor.on_idle(child, random.chance(0.5));
            break;
          default:
            supervisor.on_pong(child, now);
        }
      }
    }
    // The driver is well again: processes live, answer and come back from calls.
    for (int step = 0; step < 100 && !supervisor.current(); ++step) {
      now = std::max(now, supervisor.wakes_at().value_or(now)) + 1ms;
      supervisor.want_open(now);
      act();
      for (auto it = alive.begin(); it != alive.end();) {
        const ChildId child = it->first;
        if (killed.contains(child)) {
          supervisor.on_exit(child, now);
          it = alive.erase(it);
          continue;
        }
        if (!it->second) supervisor.on_hello(child, now);
        it->second = true;
        supervisor.on_pong(child, now);
        supervisor.on_recovered(child);
        supervisor.on_idle(child, true);
        ++it;
      }
      act();
    }
    ASSERT_TRUE(supervisor.current()) << "seed " << seed;
    for (std::size_t i = 30; i < starts.size(); ++i)
      ASSERT_GT(starts[i] - starts[i - 30], 5s) << "seed " << seed << ": started again and again";
  }
}

}  // namespace
}  // namespace hostler::driver_host

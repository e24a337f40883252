#include <algorithm>

#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/story.h"

/// Attempts that can neither be believed nor refuted: their hosts keep their ends and their output
/// as long as somebody may want them, and no longer.
namespace hostler::dispatch {
namespace {

using model::AttemptId;
using model::AttemptPhase;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr WorkId kNever{9 * kLeftOut};  ///< Its number was never given out.

std::vector<AttemptId> acknowledged(const Story& story) {
  std::vector<AttemptId> out;
  for (const auto& one : story.commands<model::AckAttempt>()) out.push_back(one.attempt);
  return out;
}

// Bug: the end of such an attempt was acknowledged, so the host forgot its output.
TEST(LeftAloneTest, TheEndOfWorkWhoseRowIsDamagedStaysOnItsHostUntilTheRowIsCorrected) {
  for (const bool ran : {true, false}) {
    auto damaged = busy_site();
    damaged.work.clear();
    damaged.attempts.clear();
    damaged.damaged.push_back({"work", "j-5", "state is 99", {}});
    Story story;
    story.begin(damaged);
    const auto tell_end = [&](Story& to) {
      if (ran)
        to.exited({7}, {5});
      else
        to.host({7}, model::AttemptRefused{{{5}, 1}, "no space", true});
    };
    story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
    tell_end(story);
    story.ready({7}, {{{{5}, 1}, AttemptPhase::kEnded}});
    tell_end(story);
    EXPECT_THAT(acknowledged(story), IsEmpty());
    EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kBusy);

    Story corrected;
    corrected.begin(busy_site());
    corrected.ready({7}, {{{{5}, 1}, AttemptPhase::kEnded}});
    tell_end(corrected);
    EXPECT_THAT(acknowledged(corrected), ElementsAre(AttemptId{{5}, 1}));
    EXPECT_EQ(corrected.record(WorkId{5}).state,
              ran ? WorkState::kSucceeded : WorkState::kStarting);
  }
}

TEST(LeftAloneTest, TheEndOfAnUnknownNumberStaysOnItsHostUntilAStartWithRestored) {
  Story story;
  story.begin(waiting_site());
  story.ready({7}, {{{kNever, 1}, AttemptPhase::kRunning}});
  story.exited({7}, kNever);
  EXPECT_THAT(acknowledged(story), IsEmpty());
  const auto view = story.dispatcher.queries().instance({7}, story.now);
  ASSERT_TRUE(view);
  EXPECT_THAT(view->conditions, Contains(HasSubstr(AttemptId{kNever, 1}.text())));

  auto site = waiting_site();
  site.left_out.push_back({kNever.value - 1, kNever.value + 1});
  site.last_work = kNever.value + 1;
  Story restored;
  restored.begin(site);
  restored.ready({7}, {{{kNever, 1}, AttemptPhase::kEnded}});
  restored.exited({7}, kNever);
  EXPECT_EQ(restored.record(kNever).state, WorkState::kSucceeded);
  EXPECT_THAT(acknowledged(restored), ElementsAre(AttemptId{kNever, 1}));
}

/// j-5 runs on h-7 as its first attempt, as h-7 has reported; h-6 reports a second one.
void begin_dispute(Story& story) {
  auto site = running_site(true);
  site.instances.push_back(second_host());
  story.begin(site);
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
  story.ready({6}, {{{{5}, 2}, AttemptPhase::kRunning}}, "boot-6");
}

TEST(LeftAloneTest, TheEndOfALaterAttemptIsKeptWhileTheOneBeforeItRuns) {
  Story story;
  begin_dispute(story);
  story.exited({6}, {5}, 2);
  EXPECT_THAT(acknowledged(story), IsEmpty());

  // The one before it is lost: the later one was the true one.
  story.ready({7}, {}, "boot-8");
  ASSERT_EQ(story.record(WorkId{5}).state, WorkState::kHeld);
  story.ready({6}, {{{{5}, 2}, AttemptPhase::kEnded}}, "boot-6");
  story.exited({6}, {5}, 2);
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kSucceeded);
}

// Bug: such a host was in use until a restart.
TEST(LeftAloneTest, AHostIsFreeOnceItsAttemptIsSettledElsewhere) {
  for (const bool has_ended : {true, false}) {
    Story story;
    begin_dispute(story);
    if (has_ended) story.exited({6}, {5}, 2);
    ASSERT_EQ(story.state(InstanceId{6}), InstanceState::kBusy);
    story.exited({7}, {5}, 1);
    story.list({story.seen({7}), story.seen({6})});
    EXPECT_EQ(story.state(InstanceId{6}), InstanceState::kIdle);
    EXPECT_THAT(acknowledged(story), SizeIs(has_ended ? 2 : 1));
    EXPECT_THAT(story.commands<model::KillAttempt>(), SizeIs(has_ended ? 0 : 1));
  }
}

TEST(LeftAloneTest, AHostThatReportsAgainIsInUseOnlyByWhatIsLeftThere) {
  Story story;
  begin_dispute(story);
  story.exited({7}, {5}, 1);
  story.ready({6}, {}, "boot-6");
  EXPECT_EQ(story.state(InstanceId{6}), InstanceState::kIdle);
}

// Bug: the host stayed in use.
TEST(LeftAloneTest, AnAttemptWhoseJobIsTakenOverElsewhereFreesItsHostWhenItEnds) {
  auto site = waiting_site();
  site.instances.push_back(second_host());
  Story story;
  story.begin(site);
  story.ready({6}, {{{kForeign, 1}, AttemptPhase::kRunning}}, "boot-6");
  story.ready({7}, {{{kForeign, 1}, AttemptPhase::kRunning}});
  ASSERT_EQ(story.state(InstanceId{7}), InstanceState::kBusy);
  story.exited({7}, kForeign);
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kIdle);
  EXPECT_EQ(story.record(kForeign).state, WorkState::kRunning) << "on h-6";
}

// Bug: it got other work beyond its room.
TEST(LeftAloneTest, AHostGetsNoWorkWhileSuchAnAttemptRunsThere) {
  Story story;
  story.begin(waiting_site());
  story.ready({7}, {{{kNever, 1}, AttemptPhase::kRunning}});
  const auto job = story.submit({story.job()}).at(0);
  const auto starts = [&] {
    return std::ranges::count(story.commands<model::StartAttempt>(), InstanceId{7},
                              &model::StartAttempt::instance);
  };
  EXPECT_EQ(starts(), 0);
  story.exited({7}, kNever);
  EXPECT_EQ(starts(), 1) << "what has ended takes no room";
  EXPECT_EQ(story.record(job).instance, InstanceId{7});
}

// Bug: work was started before the attempt had ended.
TEST(LeftAloneTest, AHostGetsNoWorkUntilAnAttemptHasEndedThatItIsToldToEnd) {
  Story story;
  begin_dispute(story);
  story.exited({7}, {5}, 1);
  story.list({story.seen({7}), story.seen({6})});
  ASSERT_THAT(story.commands<model::KillAttempt>(), SizeIs(1)) << "on h-6";
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "root", {7}, model::IdleBehavior::kDrain}));
  (void)story.submit({story.job()});
  const auto starts = [&] {
    return std::ranges::count(story.commands<model::StartAttempt>(), InstanceId{6},
                              &model::StartAttempt::instance);
  };
  EXPECT_EQ(starts(), 0);
  story.list({story.seen({7}), story.seen({6})});
  EXPECT_THAT(story.commands<model::KillAttempt>(), SizeIs(1)) << "it was told once";
  story.exited({6}, {5}, 2);
  EXPECT_EQ(starts(), 1);
}

}  // namespace
}  // namespace hostler::dispatch

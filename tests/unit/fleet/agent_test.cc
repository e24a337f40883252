#include "tests/unit/fleet/instances.h"

namespace hostler::fleet {
namespace {

using model::AgentReport;

const std::string kPusher = "token scaler";

model::PoolPolicy pushed_pool(model::Readiness readiness = model::Readiness::kSsh) {
  auto out = pool();
  out.readiness = readiness;
  out.pushed = model::PushedPolicy{};
  return out;
}

/// Made at 0s, and looked at.
Instance made(InstanceState state = InstanceState::kIdle) {
  auto out = instance_in(state);
  out.creating.decided(at(0s).mono);
  watch_agent(out, pushed_pool(), at(0s));
  return out;
}

Outcome say(Instance& host, AgentReport report, Duration when,
            const model::PoolPolicy& pool = pushed_pool()) {
  return agent_reported(host, report, kPusher, pool, at(when));
}

TEST(AgentTest, AReportIsJournalledOnceWithTheTimeOfItsChange) {
  auto host = made();
  const auto out = say(host, AgentReport::kIdle, 1min);
  EXPECT_TRUE(out.changed);
  EXPECT_EQ(out.event, Event::kAgentReported);
  EXPECT_EQ(out.reason_code, "idle");
  EXPECT_EQ(host.record.agent_since, at(1min).wall);

  EXPECT_FALSE(say(host, AgentReport::kIdle, 2min).changed);
  EXPECT_EQ(host.link.outside.since(), at(1min).mono);
}

TEST(AgentTest, AHostThatWasNeverListedIsNotMissing) {
  auto host = made();
  EXPECT_FALSE(say(host, AgentReport::kMissing, 1min).changed);
  EXPECT_EQ(host.record.agent, AgentReport::kNone);
}

// 1.4: exactly at the limit it is lost already.
TEST(AgentTest, AHostCountsAsComingUntilItsTimeToStartIsOver) {
  auto host = made();
  EXPECT_EQ(host.link.outside.deadline(), at(20min).mono);
  EXPECT_FALSE(agent_due(host, pushed_pool(), at(20min - 1us)).event);
  EXPECT_FALSE(host.link.outside.lost_since());

  EXPECT_EQ(agent_due(host, pushed_pool(), at(21min)).event, Event::kAgentNeverCame);
  EXPECT_EQ(host.link.outside.lost_since(), at(20min).mono);
  EXPECT_EQ(host.link.outside.deadline(), kNever);
}

TEST(AgentTest, AYoungHostThatLosesItsAgentComesAgain) {
  auto host = made();
  (void)say(host, AgentReport::kBusy, 1min);
  EXPECT_EQ(host.link.outside.deadline(), kNever);
  (void)say(host, AgentReport::kMissing, 2min);
  EXPECT_EQ(host.link.outside.deadline(), at(20min).mono);
  EXPECT_FALSE(agent_due(host, pushed_pool(), at(20min)).event) << "it was reported once";
  EXPECT_EQ(host.link.outside.lost_since(), at(20min).mono);
}

TEST(AgentTest, AnOldHostIsLostFromTheFirstPushThatMissesIt) {
  auto host = made();
  (void)say(host, AgentReport::kIdle, 1min);
  (void)say(host, AgentReport::kMissing, 30min);
  EXPECT_EQ(host.link.outside.lost_since(), at(30min).mono);
  (void)say(host, AgentReport::kIdle, 31min);
  EXPECT_FALSE(host.link.outside.lost_since());
}

TEST(AgentTest, AListedAgentIsTheEvidenceOfItsPool) {
  const auto pool = pushed_pool(model::Readiness::kReported);
  auto host = made(InstanceState::kBooting);
  EXPECT_EQ(say(host, AgentReport::kMissing, 1min, pool).event, std::nullopt);
  const auto out = say(host, AgentReport::kBusy, 2min, pool);
  EXPECT_EQ(out.event, Event::kReady);
  EXPECT_EQ(host.record.state, InstanceState::kIdle);
  EXPECT_EQ(host.record.agent, AgentReport::kBusy);
}

TEST(AgentTest, AHostThatTheCloudHasNotShownKeepsItsReportUntilItIsReady) {
  const auto pool = pushed_pool(model::Readiness::kReported);
  auto host = made(InstanceState::kRequested);
  EXPECT_EQ(say(host, AgentReport::kIdle, 1s, pool).event, Event::kAgentReported);
  host.record.state = InstanceState::kBooting;
  EXPECT_EQ(say(host, AgentReport::kIdle, 2s, pool).event, Event::kReady);
}

TEST(AgentTest, NothingIsReportedOfHostsThatGoOrAreOff) {
  for (const auto state : {InstanceState::kStopped, InstanceState::kTerminating,
                           InstanceState::kVanished, InstanceState::kAbandoned}) {
    auto host = made(state);
    EXPECT_FALSE(say(host, AgentReport::kBusy, 1s).changed) << to_string(state);
    EXPECT_EQ(host.link.outside.deadline(), kNever);
  }
}

TEST(AgentTest, AHostThatWasSwitchedOnIsAwaitedAnew) {
  auto host = made();
  (void)say(host, AgentReport::kIdle, 1min);
  (void)switch_off(host, Reason::kIdle, "", at(30min));
  EXPECT_EQ(host.record.agent, AgentReport::kNone);
  (void)host.power.shown_off();
  (void)switch_on(host, "", pushed_pool(), at(50min));
  EXPECT_EQ(host.link.outside.deadline(), at(70min).mono);
}

// 5.3.4: the timers of Determined begin anew at each restart.
TEST(AgentTest, W4_TimesGoOnOverARestart) {
  auto host = made();
  (void)say(host, AgentReport::kIdle, 25min);
  host.record.created = at(0s).wall;
  host.link.outside = {};
  (void)adopt(host, pushed_pool(), 24h, false, at(30min));
  EXPECT_EQ(host.link.outside.since(), at(25min).mono);

  (void)say(host, AgentReport::kMissing, 31min);
  host.link.outside = {};
  (void)adopt(host, pushed_pool(), 24h, false, at(36min));
  EXPECT_EQ(host.link.outside.lost_since(), at(31min).mono);
}

TEST(AgentTest, AClockThatJumpedEndsNoHostBeforeTheNextPush) {
  auto host = made();
  host.record.created = at(0s).wall;
  (void)say(host, AgentReport::kIdle, 25min);
  (void)say(host, AgentReport::kMissing, 30min);
  auto ahead = at(31min);
  ahead.wall = ahead.wall + 24h;
  (void)adopt(host, pushed_pool(), 24h, false, ahead);
  EXPECT_EQ(host.link.outside.lost_since(), ahead.mono - 9min) << "disconnected - max_age";

  auto back = at(31min);
  back.wall = back.wall + -24h;
  (void)adopt(host, pushed_pool(), 24h, false, back);
  EXPECT_EQ(host.link.outside.since(), back.mono) << "no time has passed";
}

TEST(AgentTest, AClockThatIsSetChangesNoTimeOfARunningDaemon) {
  auto host = made();
  (void)say(host, AgentReport::kIdle, 25min);
  auto later = at(26min);
  later.wall = later.wall + 24h;
  watch_agent(host, pushed_pool(), later);
  EXPECT_EQ(host.link.outside.since(), at(25min).mono);
}

TEST(AgentTest, ARestoredHostIsKnownOnlyOnceItIsListed) {
  auto host = made();
  host.record.agent = AgentReport::kBusy;
  host.record.restored = true;
  (void)say(host, AgentReport::kMissing, 1min);
  EXPECT_TRUE(host.record.restored);
  EXPECT_TRUE(say(host, AgentReport::kIdle, 2min).changed);
  EXPECT_FALSE(host.record.restored);
}

// A list that omits a host by mistake must not make it disconnected for as long.
TEST(AgentTest, AHostThatIsListedAgainIsAwaitedAnew) {
  auto host = made(InstanceState::kVanished);
  host.record.agent = AgentReport::kMissing;
  (void)listed(host, listing(CloudState::kRunning), at(30min).mono, pushed_pool(), at(30min));
  EXPECT_EQ(host.record.state, InstanceState::kUnknown);
  EXPECT_EQ(host.record.agent, AgentReport::kNone);
  EXPECT_EQ(host.link.outside.deadline(), at(50min).mono);
}

TEST(AgentTest, AnAgentThatWasListedOutweighsALinkThatIsLost) {
  for (const auto state :
       {InstanceState::kIdle, InstanceState::kUnknown, InstanceState::kBooting}) {
    auto host = made(state);
    if (state == InstanceState::kIdle) {
      host.link.lost();
      host.link.set_unreachable(at(1min).mono);
      host.record.health = Health::kUnreachable;
    }
    for (const auto report : {AgentReport::kBusy, AgentReport::kIdle, AgentReport::kMissing}) {
      (void)say(host, report, 1min);
      EXPECT_FALSE(due(host, pushed_pool(), at(30min)).event) << to_string(state);
      EXPECT_EQ(host.deadline, at(30min).mono + pushed_pool().probe_timeout);
    }
  }
}

// Only a plan ends it, which sees whether pushes are too old: its agent may have come meanwhile.
TEST(AgentTest, NoDeadlineEndsAHostThatOnlyPushesCanShow) {
  auto host = made(InstanceState::kBooting);
  EXPECT_FALSE(due(host, pushed_pool(model::Readiness::kReported), at(2h)).event);
}

TEST(AgentTest, AFailedInitCommandEndsNoHostWhoseAgentIsListed) {
  auto host = made(InstanceState::kBooting);
  (void)say(host, AgentReport::kBusy, 1min);
  EXPECT_EQ(init_failed(host, {"status 3", "", false}, at(2min)).event, Event::kInitFailed);
  EXPECT_NE(host.record.state, InstanceState::kTerminating);
}

// Missing may be a mistake of the push: the plan knows for how long it is awaited.
TEST(AgentTest, ADrainEndsNoHostThatAnOutsideSchedulerMayUse) {
  for (const auto report : {AgentReport::kNone, AgentReport::kBusy, AgentReport::kMissing}) {
    auto host = made();
    if (report != AgentReport::kNone) (void)say(host, AgentReport::kIdle, 1min);
    (void)say(host, report, 2min);
    EXPECT_EQ(set_idle_behavior(host, IdleBehavior::kDrain, "root", at(3min)).event,
              Event::kIdleBehavior);
  }
}

TEST(AgentTest, OneListEndsNoHostWhoseAgentIsBusy) {
  const auto pool = pushed_pool(model::Readiness::kReported);
  for (const auto shown : {CloudState::kStopped, CloudState::kFailed}) {
    auto host = made();
    host.link.lost();
    (void)say(host, AgentReport::kBusy, 1min, pool);
    const auto list = [&](Duration sent) {
      (void)listed(host, listing(shown), at(sent).mono, pool, at(sent + 1s), 2s);
      return host.record.state;
    };
    EXPECT_EQ(list(2min), InstanceState::kIdle);
    EXPECT_NE(list(3min), InstanceState::kIdle) << "two lists prove it";
  }
}

// Its time to start begins when it is fulfilled.
TEST(AgentTest, AnUnfulfilledSpotRequestIsNotLost) {
  auto host = made(InstanceState::kRequested);
  host.record.market = model::Market::kSpot;
  (void)listed(host, listing(CloudState::kRequested), at(1min).mono, pushed_pool(), at(1min));
  EXPECT_FALSE(agent_due(host, pushed_pool(), at(3h)).event);
  EXPECT_FALSE(host.link.outside.lost_since());
  (void)listed(host, listing(CloudState::kRunning), at(4h).mono, pushed_pool(), at(4h));
  EXPECT_EQ(host.link.outside.deadline(), at(4h + 20min).mono);
}

// Nobody could list its agent while hostlerd or the scheduler was away.
TEST(AgentTest, AHostThatTheFirstPushDoesNotListIsAwaitedForShrinkAfter) {
  auto host = made();
  (void)agent_due(host, pushed_pool(), at(2h));
  await_after_silence(host, pushed_pool(), at(2h));
  EXPECT_EQ(host.link.outside.lost_since(), at(2h - 5min).mono) << "disconnected is 10m";
  watch_agent(host, pushed_pool(), at(2h));
  EXPECT_EQ(host.link.outside.lost_since(), at(2h - 5min).mono);
}

TEST(AgentTest, WhatIsForgottenWasNeverListed) {
  auto host = made();
  (void)say(host, AgentReport::kBusy, 1min);
  EXPECT_TRUE(agent_forgotten(host, pushed_pool(), at(25min)).changed);
  EXPECT_EQ(host.record.agent, AgentReport::kNone);
  EXPECT_EQ(host.link.outside.lost_since(), at(20min).mono);
  EXPECT_FALSE(agent_forgotten(host, pushed_pool(), at(26min)).changed);
}

TEST(AgentTest, OtherPoolsHaveNoAgents) {
  auto host = made();
  EXPECT_FALSE(agent_reported(host, AgentReport::kBusy, kPusher, pool(), at(1s)).changed);
  watch_agent(host, pool(), at(1h));
  EXPECT_FALSE(host.link.outside.lost_since());
}

}  // namespace
}  // namespace hostler::fleet

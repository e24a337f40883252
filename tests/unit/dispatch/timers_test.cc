#include <algorithm>

#include "core/dispatch/state/state.h"
#include "tests/unit/dispatch/interruption_fixture.h"

/// A dump lists all that the dispatcher does by itself.
namespace hostler::dispatch {
namespace {

using model::TimerView;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;

class TimersTest : public InterruptionTest {
 protected:
  /// All, in order; the dispatcher wakes for one of them.
  std::vector<TimerView> timers() const {
    auto out = story.dispatcher.queries().dump_parts(story.now).timers;
    EXPECT_TRUE(std::ranges::is_sorted(out, {}, &TimerView::at));
    if (const Mono wake = story.dispatcher.next_wake(); wake != fleet::kNever) {
      const Wall at = story.now.wall + (std::max(wake, story.now.mono) - story.now.mono);
      EXPECT_THAT(out, Contains(Field(&TimerView::at, at)));
    }
    return out;
  }
  /// The things to do for one subject, in order: "list", "price_patience small".
  std::vector<std::string> of(const std::string& subject) const {
    std::vector<std::string> out;
    for (const auto& timer : timers())
      if (timer.of == subject)
        out.push_back(timer.what + (timer.about.empty() ? "" : " " + timer.about));
    return out;
  }
  std::vector<std::string> of(InstanceId id) const { return of(id.text()); }
  InstanceId asked_for() {
    (void)story.submit({story.job(2)});
    return story.all<CreateCall>().back().instance;
  }
};

TEST_F(TimersTest, TheLifeOfAHostIsNamedStepByStep) {
  const auto id = story.submit({story.job(2)}).at(0);
  const auto on = story.all<CreateCall>().back().instance;
  story.say(CreateSeen{on, story.seen(on)});
  EXPECT_THAT(of(on), Contains("boot_timeout"));
  story.boot(on);
  EXPECT_THAT(of(on), Not(Contains("boot_timeout")));
  story.host(on, model::AttemptStarted{{id, 1}, story.now.wall});
  EXPECT_THAT(of(on), Not(Contains("idle_timeout")));
  story.exited(on, id);
  EXPECT_THAT(of(on), Contains("idle_timeout"));
  story.host(on, model::HostLost{"no route"});
  EXPECT_THAT(of(on), Contains("probe_timeout"));
  story.say(KillInstance{0, "user root", on, "fan"});
  story.say(DestroyEnded{on, error(CloudErrorClass::kTransient)});
  EXPECT_THAT(of(on), Contains("destroy"));
}

TEST_F(TimersTest, ARefusedCreateAndOneOfUnknownOutcomeHaveTheirOwn) {
  const auto refused = asked_for();
  story.create_ended(refused, error(CloudErrorClass::kTransient));
  EXPECT_THAT(of(refused), Contains("create_again"));
  story.pass(2s);
  story.create_ended(refused, error(CloudErrorClass::kTransient, true));
  EXPECT_THAT(of(refused), Contains("create_timeout"));
}

TEST_F(TimersTest, ANoticeACommandAndAWatchAreNamed) {
  const auto on = story.running().second;
  EXPECT_THAT(of("set west"), Contains("watch_stands"));
  notice(on, 10min);
  EXPECT_THAT(of(on), Contains("notice"));
  model::HostExec command;
  command.purpose = "a look around";
  command.arguments = {"true"};
  command.limit = 10s;
  story.host(on, model::CommandProposed{command, 1});
  EXPECT_THAT(of(on), Contains("command a look around"));
}

TEST_F(TimersTest, TheNextCallsOfASetAndTheSiteAreNamed) {
  EXPECT_THAT(of("set west"), Contains("list_overdue"));
  story.list({});
  EXPECT_THAT(of("set west"), Contains("list"));
  const auto [id, on] = story.running();
  EXPECT_THAT(of("site"), Contains("journal_uses"));
  story.exited(on, id);
  EXPECT_THAT(of("site"), Contains("plan")) << "one is due when the host has been idle for long";
}

TEST_F(TimersTest, AShutGateIsNamedByItsKey) {
  auto full = error(CloudErrorClass::kCapacity);
  full.scope = model::scope::kSubnet;
  full.subnet = "subnet-a";
  story.create_ended(asked_for(), full);
  const auto gates = story.dispatcher.queries().gates(story.now.mono);
  ASSERT_FALSE(gates.empty());
  EXPECT_THAT(of("gate " + gates[0].key), ElementsAre("half_open"));
}

TEST_F(TimersTest, HostsThatAreUnreachableTogetherAreOneTimerOfTheirSet) {
  std::vector<InstanceId> hosts;
  for (int n = 0; n < 4; ++n) hosts.push_back(story.running().second);
  for (const auto id : hosts) story.host(id, model::HostLost{"no route"});
  EXPECT_THAT(of("set west"), Contains("mass_unreachable_hold"));
}

TEST_F(TimersTest, APriceThatIsWaitedForIsNamedWithItsType) {
  auto site = small_site();
  site.pools[0].types = {"small"};
  site.pools[0].price_cap_per_hour = {1000};
  story = Story(site);
  story.restore();
  model::SetInfo info;
  info.has_price_history = true;
  story.say(SetOpened{"west", info});
  (void)story.submit({story.job()});
  EXPECT_THAT(of("set west"), Contains("price_patience small"));
  story.say_prices("small", tl::unexpected(error(CloudErrorClass::kTransient)));
  EXPECT_THAT(of("set west"), Contains("prices small"));
}

TEST(PoolTimersTest, RestsAndBoundsOfAPoolAreNamedInTheOrderOfTheirEnds) {
  State state{small_site(), 1};
  const Now now{Mono(100h), Wall{1'700'000'000'000'000}};
  state.bounds.say(0, "pushed",
                   {{.of = scheduler::BoundOf::kStandby,
                     .source = "pushed",
                     .number = 3,
                     .reason = {},
                     .until = now.mono + 5min}});
  state.rests.gave_way(0, now.mono, now.mono + 2min);
  state.rests.exchange(0, now.mono + 1min);
  std::vector<std::string> out;
  const auto parts = Queries(state).dump_parts(now);
  for (const auto& timer : parts.timers)
    if (timer.of == "pool default") out.emplace_back(timer.what);
  EXPECT_THAT(out, ElementsAre("rest_of_exchange", "rest_of_host", "bound_ends"));
  EXPECT_EQ(state.rests.next(now.mono), now.mono + 1min);
}

TEST(PoolTimersTest, AnOldStateDoesNothingByItself) {
  State state{small_site(), 1};
  state.is_old = true;
  EXPECT_THAT(Queries(state).dump_parts({}).timers, IsEmpty());
}

}  // namespace
}  // namespace hostler::dispatch

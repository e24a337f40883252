#include <algorithm>

#include "core/dispatch/state/state.h"
#include "tests/unit/dispatch/story.h"

/// The parts that only a dump shows, without timers.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

class DumpTest : public testing::Test {
 protected:
  void SetUp() override { story.begin(); }
  /// "h-1 create", "set west prices small".
  std::vector<std::string> calls() const {
    std::vector<std::string> out;
    const auto parts = story.dispatcher.queries().dump_parts(story.now);
    for (const auto& call : parts.calls)
      out.push_back(call.of + " " + call.call + (call.about.empty() ? "" : " " + call.about));
    return out;
  }
  Story story;
};

TEST_F(DumpTest, ACallIsUnderWayUntilItsAnswer) {
  (void)story.submit({story.job(2)});
  const auto on = story.all<CreateCall>().back().instance;
  EXPECT_THAT(calls(), Contains(on.text() + " create"));
  const auto made = story.dispatcher.queries().dump_parts(story.now).calls;
  const auto create = std::ranges::find(made, on.text(), &model::CallView::of);
  ASSERT_NE(create, made.end());
  ASSERT_TRUE(create->since);
  EXPECT_LE(*create->since, story.now.wall);
  story.boot(on);
  EXPECT_THAT(calls(), testing::Not(Contains(on.text() + " create")));
  story.say(KillInstance{0, "user root", on, "fan"});
  EXPECT_THAT(calls(), Contains(on.text() + " destroy"));
  EXPECT_THAT(calls(), Contains("set west list"));
}

TEST_F(DumpTest, PlacedWorkHasItsHostAndWaitingWorkIsOnlyCounted) {
  const auto [id, on] = story.running();
  story.plans_wait = true;
  (void)story.submit({3, story.job()});
  const auto placed = story.dispatcher.queries().dump_parts(story.now).placed;
  ASSERT_THAT(placed, SizeIs(1));
  EXPECT_EQ(placed[0].work, id);
  EXPECT_EQ(placed[0].attempt, 1U);
  EXPECT_EQ(placed[0].host, on);
  EXPECT_EQ(placed[0].needs.vcpus, 2);
  EXPECT_TRUE(placed[0].started);
  const auto work = story.dispatcher.queries().dump_parts(story.now).work;
  ASSERT_THAT(work, SizeIs(2));
  EXPECT_STREQ(work[1].kind, "lease");
  EXPECT_STREQ(work[0].kind, "job");
  EXPECT_THAT(work[0].states, ElementsAre(Pair("queued", 3U), Pair("running", 1U)));
}

TEST(DumpOfStateTest, AClaimIsPlacedWorkWithoutAnAttempt) {
  State state{small_site(), 1};
  Host made;
  made.instance.record.id = state.hosts.next_id();
  made.instance.record.set = "west";
  made.instance.type = 0;
  const model::WorkId lease{3, model::WorkKind::kLease};
  made.instance.occupancy.add(
      fleet::Claim{lease, {.vcpus = 8, .gpus = 0, .ram = kGiB, .scratch = 0}});
  const InstanceId on = state.hosts.add(std::move(made)).id();
  (void)state.hosts.refresh_views(state.viewer);
  const auto placed = Queries(state).dump_parts({}).placed;
  ASSERT_THAT(placed, SizeIs(1));
  EXPECT_EQ(placed[0].work.text(), "l-3");
  EXPECT_EQ(placed[0].attempt, 0U);
  EXPECT_EQ(placed[0].host, on);
}

TEST(DumpOfStateTest, ATargetNamesWhoSaysSoAndWhy) {
  State state{small_site(), 1};
  state.bounds.say(0, "pushed",
                   {{.of = scheduler::BoundOf::kStartedMin,
                     .source = "pushed",
                     .number = 3,
                     .reason = "7 tasks",
                     .until = {}}});
  const auto targets = Queries(state).dump_parts({}).targets;
  ASSERT_THAT(targets, SizeIs(1));
  EXPECT_EQ(targets[0].pool, "default");
  EXPECT_FALSE(targets[0].is_held);
  std::vector<std::string> said;
  for (const auto& [bound, number, because] : targets[0].numbers)
    said.push_back(bound + (" " + std::to_string(number)) + " " + because);
  EXPECT_THAT(said, ElementsAre("started_min 3 pushed: 7 tasks", "started_max 10 config",
                                "standby 0 config", "stopped 0 config"));
}

}  // namespace
}  // namespace hostler::dispatch

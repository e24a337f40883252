#include "core/base/units.h"
#include "tests/unit/dispatch/story.h"

/// What an admin is told about instances and sets that are not as they should be.
namespace hostler::dispatch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class ConditionsTest : public testing::Test {
 protected:
  std::vector<InstanceId> start(std::size_t n, model::SitePolicy site = small_site()) {
    site.pools[0].probe_timeout = 10min;
    story = Story(site);
    story.begin();
    std::vector<InstanceId> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(story.running(true).second);
    return out;
  }
  void lose(const std::vector<InstanceId>& hosts) {
    for (const auto id : hosts) story.host(id, model::HostLost{"no route"});
  }
  std::vector<std::string> of(InstanceId id) const {
    return story.dispatcher.queries().instance(id, story.now)->conditions;
  }
  std::vector<std::string> of_set() const {
    return story.dispatcher.queries().sets(story.now).at(0).conditions;
  }

  Story story;
};

TEST_F(ConditionsTest, NothingIsSaidOfAHealthyHost) {
  const auto on = start(1).at(0);
  EXPECT_THAT(of(on), IsEmpty());
  EXPECT_THAT(of_set(), IsEmpty());
}

TEST_F(ConditionsTest, AConnectedHostThatListsOmitSaysSoAndThatItGetsNoJobsOnlyOnceThatIsTrue) {
  const auto on = start(1).at(0);
  for (int n = 0; n < 3; ++n) story.list({});
  ASSERT_THAT(of(on), ElementsAre(StartsWith("omitted by lists since ")));
  EXPECT_THAT(of(on)[0], HasSubstr("but connected"));
  EXPECT_THAT(of(on)[0], testing::Not(HasSubstr("no new jobs")));
  for (int n = 0; n < 70; ++n) story.list({});
  EXPECT_THAT(of(on), ElementsAre(HasSubstr("but connected; gets no new jobs")));
  EXPECT_THAT(of_set(),
              ElementsAre("the last list omits 1 instance; see hostler sets believe west"));
}

TEST_F(ConditionsTest, AnUnreachableHostSaysUntilWhenItKeepsItsJobs) {
  const auto on = start(1).at(0);
  lose({on});
  EXPECT_THAT(of(on), ElementsAre(AllOf(StartsWith("its host cannot be reached since "),
                                        HasSubstr("it keeps its jobs until "))));
}

TEST_F(ConditionsTest, InAPartitionTheHostAndItsSetNameTheEndOfTheHold) {
  const auto hosts = start(3);
  lose(hosts);
  const std::string end = format_wall(story.now.wall + 6h);
  EXPECT_THAT(of(hosts[0]), ElementsAre(HasSubstr("it keeps its jobs until " + end +
                                                  ", because hosts of set west")));
  EXPECT_THAT(of_set(), ElementsAre(AllOf(HasSubstr("they keep their jobs until " + end),
                                          HasSubstr("hostler sets give-up west"))));
}

TEST_F(ConditionsTest, WhatVanishedSaysHowLongItCountsAndAJobThatWaitsForItsRoomNamesIt) {
  auto site = small_site();
  site.ceilings.instances_max = 1;
  const auto on = start(1, site).at(0);
  lose({on});
  for (int n = 0; n < 5; ++n) story.list({});
  ASSERT_EQ(story.state(on), InstanceState::kVanished);
  EXPECT_THAT(of(on), ElementsAre(AllOf(StartsWith("it counts for ceilings until "),
                                        HasSubstr("used again if the cloud lists it"),
                                        HasSubstr("hostler kill h-1"))));
  const auto waits = story.dispatcher.queries().waiting(WorkId{1});
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->code, model::WaitingCode::kAtCeiling);
  EXPECT_THAT(waits->reason, HasSubstr("; vanished instances still count: h-1"));
  const auto pool = story.dispatcher.queries().reasons_of_pool("default", story.now);
  EXPECT_THAT(pool->ceiling, HasSubstr("; vanished instances still count: h-1"));

  story.pass(10min);
  story.pass(1s);
  EXPECT_THAT(of(on), ElementsAre("it is used again if the cloud lists it"));
}

TEST_F(ConditionsTest, DestroysThatTheCloudIgnoresAreToldWithTheirSet) {
  const auto on = start(1).at(0);
  EXPECT_TRUE(story.ask(KillInstance{0, "root", on, ""}));
  for (int n = 0; n < 4; ++n) {
    story.say(DestroyEnded{on, {}});
    story.pass(10min);
    story.list({story.seen(on)});
  }
  EXPECT_THAT(of(on), ElementsAre(AllOf(HasSubstr("it may still cost money; look for "),
                                        HasSubstr("in the cloud's console"))));
  EXPECT_THAT(of_set(), ElementsAre(HasSubstr("accepts the destroys of h-1")));
}

TEST_F(ConditionsTest, AHostWhoseInitCommandFailedAndThatIsKeptSaysSo) {
  story.begin();
  (void)story.submit({story.job(2)});
  const InstanceId id{1};
  story.create_ended(id);
  story.list({story.seen(id)});
  story.host(id, model::HostInitFailed{"status 3", "no space", /*host_goes_on=*/true});
  const auto view = story.dispatcher.queries().instance(id, story.now);
  EXPECT_TRUE(view->init_failed);
  EXPECT_THAT(view->conditions, ElementsAre("its init command failed"));
}

}  // namespace
}  // namespace hostler::dispatch

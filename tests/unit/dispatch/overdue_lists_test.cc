#include "tests/unit/dispatch/story.h"

/// Lists that do not come: nothing is created in their set, and its hosts keep no work.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

model::SetView set_of(const Story& story) {
  return story.dispatcher.queries().sets(story.now).at(0);
}

/// Lists are wanted every ten seconds.
model::SitePolicy site_of_lists() {
  auto out = small_site();
  out.sets[0].list_interval = 10s;
  return out;
}

scheduler::HostView seen_by_plans(const Story& story, std::size_t host = 0) {
  return story.dispatcher.queries().look(story.now)->snapshot->hosts.at(host);
}

TEST(OverdueListsTest, WithoutAListForThreeIntervalsNothingIsCreated) {
  Story story(site_of_lists());
  story.begin();
  story.list({});
  story.pass(20s);
  EXPECT_EQ(set_of(story).creates_refused, "");
  story.pass(15s);
  EXPECT_THAT(set_of(story).creates_refused, HasSubstr("no list for 36 s"));
  EXPECT_THAT(set_of(story).conditions, Contains("no list for 36 s"));
  const auto job = story.submit({story.job()}).at(0);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  EXPECT_THAT(story.dispatcher.queries().waiting(job)->reason, HasSubstr("no list for 36 s"));

  story.list({});
  EXPECT_EQ(set_of(story).creates_refused, "");
  EXPECT_THAT(set_of(story).conditions, Not(Contains(HasSubstr("no list"))));
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

TEST(OverdueListsTest, AListThatIsRefusedIsNoGoodOne) {
  Story story(site_of_lists());
  story.begin();
  for (int n = 0; n < 4; ++n) {
    story.pass(10s);
    story.say(
        SetListed{"west", story.now.mono, tl::unexpected(error(CloudErrorClass::kTransient))});
  }
  EXPECT_THAT(set_of(story).creates_refused, ContainsRegex("no list for 4[0-9] s"));
}

TEST(OverdueListsTest, ListsThatTakeLongAreNotOverdueForThat) {
  Story story(site_of_lists());
  story.begin();
  for (int n = 0; n < 3; ++n) {
    const Mono sent = story.now.mono;
    story.pass(40s);
    story.say(SetListed{"west", sent, model::share(std::vector<model::ListedInstance>{})});
    story.pass(10s);       // Until the next one is sent.
    if (n == 0) continue;  // Until it came, nobody knew how long lists take.
    EXPECT_EQ(set_of(story).creates_refused, "");
  }
  story.pass(75s);
  EXPECT_THAT(set_of(story).creates_refused, HasSubstr("no list for"));
}

TEST(OverdueListsTest, ADriverThatWantsAPauseBetweenListsIsGivenThreeOfThem) {
  Story story(site_of_lists());
  story.restore();
  model::SetInfo info;
  info.list_interval_min = 1min;
  story.say(SetOpened{"west", info});
  story.list({});
  story.pass(170s);
  EXPECT_EQ(set_of(story).creates_refused, "");
  story.pass(20s);
  EXPECT_THAT(set_of(story).creates_refused, HasSubstr("no list for"));
}

TEST(OverdueListsTest, ASetThatIsNeverOpenedHasNoListEither) {
  Story story(site_of_lists());
  story.restore();
  story.pass(31s);
  EXPECT_THAT(set_of(story).conditions, Contains("no list for 31 s"));
  EXPECT_THAT(set_of(story).creates_refused, HasSubstr("the set is not open"));
}

/// A job, and a host for it whose address no list has shown, 35 s later.
InstanceId unseen_host(Story& story) {
  (void)story.submit({story.job(2)});
  const auto on = story.all<CreateCall>().back().instance;
  auto bare = story.seen(on, model::CloudState::kPending);
  bare.address.clear();
  story.say(CreateSeen{on, bare});
  story.create_ended(on);
  story.pass(35s);
  return on;
}

TEST(OverdueListsTest, OnlyAHostThatAListWouldBringNearerIsUnseen) {
  Story story(site_of_lists());
  story.begin();
  const auto [job, with_address] = story.running();
  const auto on = unseen_host(story);
  EXPECT_FALSE(seen_by_plans(story, 0).unseen);
  EXPECT_TRUE(seen_by_plans(story, 1).unseen);
  EXPECT_FALSE(seen_by_plans(story, 1).work_cancelled) << "it is kept until a list comes";
  const auto view = story.dispatcher.queries().instance(on, story.now);
  EXPECT_THAT(view->conditions, Contains(ContainsRegex("set west has no list for 3[0-9] s")));
  EXPECT_THAT(story.dispatcher.queries().instance(with_address, story.now)->conditions,
              Not(Contains(HasSubstr("no list"))));
}

TEST(OverdueListsTest, WhenAListComesAHostThatIsNeededStays) {
  Story story(site_of_lists());
  story.begin();
  const auto on = unseen_host(story);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1)) << "no other set can take the job";
  story.list({story.seen(on)});
  EXPECT_FALSE(seen_by_plans(story).unseen);
  EXPECT_EQ(story.state(on), InstanceState::kBooting);
  EXPECT_THAT(story.commands<model::ConnectHost>(), SizeIs(1));
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

TEST(OverdueListsTest, WhenAListComesAHostWhoseWorkRunsElsewhereEnds) {
  Story story(site_of_lists());
  story.begin();
  const auto [job, first] = story.running();
  const auto on = unseen_host(story);
  story.exited(first, job);
  story.pass(1s);
  EXPECT_EQ(story.state(on), InstanceState::kBooting) << "no list has come";
  story.list({story.seen(first), story.seen(on)});
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kBootingSurplus);
}

TEST(OverdueListsTest, AHostIsNotWokenWhereNoListWouldShowItsAddress) {
  auto site = site_of_lists();
  site.pools[0].sizes.max = site.pools[0].sizes.stopped = 1;
  site.pools[0].types = {"small"};
  Story story(site);
  story.restore();
  model::SetInfo info;
  info.stop = info.has_power = true;
  story.say(SetOpened{"west", info});
  const auto [job, on] = story.running();
  story.exited(on, job);
  story.list({story.seen(on)});
  story.pass(61s);
  ASSERT_EQ(story.state(on), InstanceState::kStopped);
  story.say(PowerEnded{on, {}});
  story.list({story.seen(on, model::CloudState::kStopped)});
  EXPECT_TRUE(seen_by_plans(story).can_wake);
  story.pass(35s);
  EXPECT_FALSE(seen_by_plans(story).can_wake);
}

}  // namespace
}  // namespace hostler::dispatch

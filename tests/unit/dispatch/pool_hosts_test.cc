#include "tests/unit/dispatch/story.h"

/// Which hosts a pool has: what new hosts get, and which hosts go when a policy, work or prices
/// want others.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PoolHostsTest : public testing::Test {
 protected:
  void SetUp() override { story.begin(); }

  void start(const model::SitePolicy& site) {
    story = Story(site);
    story.begin();
  }
  std::vector<InstanceId> created() const {
    std::vector<InstanceId> out;
    for (const auto& call : story.all<CreateCall>()) out.push_back(call.instance);
    return out;
  }
  WorkId submit(std::int32_t vcpus, std::int32_t priority = 0) {
    auto job = story.job(vcpus);
    job.shape.priority = priority;
    return story.submit({job}).at(0);
  }
  InstanceId where(WorkId job) const { return story.record(job).instance; }
  model::InstanceView view(InstanceId id) const {
    return *story.dispatcher.queries().instance(id, story.now);
  }

  Story story;
};

// Bug: it got the next job of the queue, and the rest needed more hosts than were bought.
TEST_F(PoolHostsTest, ANewHostFirstGetsWhatItWasMadeFor) {
  const auto first = submit(2), own = submit(8);
  const auto hosts = created();
  ASSERT_THAT(hosts, SizeIs(2));
  story.boot(hosts[1]);
  EXPECT_EQ(where(own), hosts[1]);
  EXPECT_EQ(story.record(first).state, WorkState::kQueued);
  story.boot(hosts[0]);
  EXPECT_EQ(where(first), hosts[0]);
}

TEST_F(PoolHostsTest, ItGetsMoreUrgentWorkFirst) {
  const auto own = submit(8);
  const auto hosts = created();
  ASSERT_THAT(hosts, SizeIs(1));
  const auto urgent = submit(2, 1);
  story.boot(hosts[0]);
  EXPECT_EQ(where(urgent), hosts[0]);
  EXPECT_EQ(story.record(own).state, WorkState::kQueued);
}

TEST_F(PoolHostsTest, WhatDoesNotFitTheHostThatCameWaitsForAnother) {
  auto site = small_site();
  for (auto& type : site.types) type.resources.scratch = 10 * kGiB;
  start(site);
  auto large = story.job(8);
  large.shape.needs.scratch = 10 * kGiB;
  const auto own = story.submit({large}).at(0), other = submit(2);
  const auto hosts = created();
  story.say(CreateSeen{hosts[0], story.seen(hosts[0])});
  story.create_ended(hosts[0]);
  story.host(hosts[0], model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  story.host(hosts[0], model::HostReady{"boot-1", 77, 0, {}, kGiB});
  EXPECT_EQ(where(other), hosts[0]);
  EXPECT_EQ(story.record(own).state, WorkState::kQueued);
}

TEST_F(PoolHostsTest, AHostThatBootsIsEndedWhenItsWorkIsCancelled) {
  const auto first = submit(8), second = submit(8);
  const auto hosts = created();
  ASSERT_THAT(hosts, SizeIs(2));
  ASSERT_TRUE(story.ask(CancelWork{0, "user ann", true, first}));
  EXPECT_EQ(story.record(hosts[1]).reason_code, model::Reason::kBootingSurplus)
      << "the youngest of those that were made for such jobs";
  EXPECT_EQ(story.state(hosts[0]), InstanceState::kRequested);
  ASSERT_TRUE(story.ask(CancelWork{0, "user ann", true, second}));
  EXPECT_EQ(story.record(hosts[0]).reason_code, model::Reason::kBootingSurplus);
}

TEST_F(PoolHostsTest, AHostThatBootsIsKeptWhenItsWorkRunsElsewhere) {
  const auto [id, on] = story.running();
  const auto next = submit(2);
  const auto hosts = created();
  ASSERT_THAT(hosts, SizeIs(2));
  story.exited(on, id);
  EXPECT_EQ(where(next), on);
  EXPECT_EQ(story.state(hosts[1]), InstanceState::kRequested);
  story.boot(hosts[1]);
  EXPECT_EQ(story.state(hosts[1]), InstanceState::kIdle);
  story.pass(61s);
  EXPECT_EQ(story.record(hosts[1]).reason_code, model::Reason::kIdle);
}

TEST_F(PoolHostsTest, ASmallerMaximumEndsTheIdleHostAndClosesTheNewest) {
  auto site = small_site();
  site.pools[0].types = {"small"};
  start(site);
  const auto [a, first] = story.running();
  const auto [b, second] = story.running();
  const auto [c, third] = story.running();
  story.exited(first, a);
  story.clear();
  site.pools[0].sizes.max = 1;
  story.say(PolicyChanged{site});

  std::string said;
  for (const auto& one : story.journalled<model::LedgerRecord>())
    if (one.event == model::Event::kPolicyChanged) said = one.reason;
  EXPECT_THAT(said, HasSubstr("2 hosts are beyond its maximum of 1 (1 idle)"));
  EXPECT_EQ(story.record(first).reason_code, model::Reason::kBeyondMax);
  EXPECT_EQ(view(third).closed, "beyond_max");
  EXPECT_THAT(view(third).conditions, Contains(HasSubstr("gets no new jobs")));
  EXPECT_EQ(view(second).closed, "");

  const auto next = submit(2);
  story.exited(third, c);
  EXPECT_EQ(story.record(third).reason_code, model::Reason::kBeyondMax);
  EXPECT_EQ(story.record(next).state, WorkState::kQueued);
  story.exited(second, b);
  EXPECT_EQ(where(next), second);
}

TEST_F(PoolHostsTest, AClosedHostIsOpenAgainWhenTheMaximumIs) {
  auto site = small_site();
  site.pools[0].types = {"small"};
  start(site);
  const auto [id, on] = story.running();
  site.pools[0].sizes.max = 0;
  story.say(PolicyChanged{site});
  EXPECT_EQ(view(on).closed, "beyond_max");
  site.pools[0].sizes.max = 1;
  story.say(PolicyChanged{site});
  EXPECT_EQ(view(on).closed, "");
  const auto next = submit(2);
  story.exited(on, id);
  EXPECT_EQ(where(next), on);
}

TEST_F(PoolHostsTest, AHostWhoseTypeLeftThePoolDrains) {
  auto site = small_site();
  const auto [id, on] = story.running();
  site.pools[0].types = {"large"};
  story.say(PolicyChanged{site});
  EXPECT_EQ(view(on).closed, "off_menu");
  const auto next = submit(1);
  story.exited(on, id);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kOffMenu);
  EXPECT_NE(where(next), on);
}

TEST_F(PoolHostsTest, TheMinimumGivesWayAndIsNotRefilledBeforeTheIdleTimeout) {
  auto site = small_site();
  site.pools[0].sizes.min = site.pools[0].sizes.max = 1;
  start(site);
  const auto small = created();
  ASSERT_THAT(small, SizeIs(1));
  story.boot(small[0]);
  story.clear();
  const auto large = submit(8);
  EXPECT_EQ(story.record(small[0]).reason_code, model::Reason::kGaveWay);
  story.pass(1s);
  ASSERT_THAT(created(), SizeIs(1));
  EXPECT_EQ(story.record(created()[0]).type, "large");

  story.clear();
  ASSERT_TRUE(story.ask(CancelWork{0, "user ann", true, large}));
  ASSERT_TRUE(story.ask(KillInstance{0, "admin", InstanceId{2}, ""}));
  story.pass(10s);
  EXPECT_THAT(created(), IsEmpty());
  story.pass(60s);
  EXPECT_THAT(created(), SizeIs(1));
}

TEST_F(PoolHostsTest, TheMinimumIsExchangedOnceTheCheaperHostIsReady) {
  auto site = small_site();
  site.pools[0].sizes.min = 1;
  site.pools[0].types = {"large"};
  start(site);
  const auto old = created().at(0);
  story.boot(old);
  site.pools[0].types = {"small", "large"};
  story.clear();
  story.say(PolicyChanged{site});
  story.pass(61s);
  ASSERT_THAT(created(), SizeIs(1));
  const auto fresh = created()[0];
  EXPECT_EQ(story.record(fresh).type, "small");
  EXPECT_EQ(story.state(old), InstanceState::kIdle);
  story.boot(fresh);
  EXPECT_EQ(story.record(old).reason_code, model::Reason::kExchanged);
  EXPECT_EQ(story.state(fresh), InstanceState::kIdle);
}

TEST_F(PoolHostsTest, AnExchangeThatFailedIsNotTriedAgainAtOnce) {
  auto site = small_site();
  site.pools[0].sizes.min = 1;
  site.pools[0].types = {"large"};
  start(site);
  story.boot(created().at(0));
  site.pools[0].types = {"small", "large"};
  story.clear();
  story.say(PolicyChanged{site});
  story.pass(61s);
  ASSERT_THAT(created(), SizeIs(1));
  ASSERT_TRUE(story.ask(KillInstance{0, "admin", created()[0], ""}));
  story.pass(5min);
  EXPECT_THAT(created(), SizeIs(1));
  story.pass(5min);
  EXPECT_THAT(created(), SizeIs(2)) << "the boot timeout has passed";
}

}  // namespace
}  // namespace hostler::dispatch

#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/story.h"

/// What the limits of running work promise: nobody runs more, and what waits for them costs nothing
/// and holds nobody up.
namespace hostler::dispatch {
namespace {

using model::WaitingCode;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A small host costs 0.2 an hour and has 2 vcpus, a large one 0.8 and 8.
model::SitePolicy priced_site() {
  model::SitePolicy out = small_site();
  out.types[0].price_per_hour = {200'000};
  out.types[1].price_per_hour = {800'000};
  out.pools[0].types = {"small"};
  return out;
}

struct RunningLimitsTest : testing::Test {
  RunningLimitsTest() : story(priced_site()), policy(priced_site()) {}

  void limit_vcpus(std::optional<std::int64_t> vcpus, const std::string& who = "user ann") {
    policy.quotas.principals[who].running_vcpus_max = vcpus;
    story.say(PolicyChanged{policy});
  }
  void limit_price(std::optional<std::int64_t> price) {
    auto& limit = policy.quotas.principals["user ann"].running_price_per_hour_max;
    limit.reset();
    if (price) limit = model::Micros{*price};
    story.say(PolicyChanged{policy});
  }
  std::vector<WorkId> submit(std::size_t count, std::int32_t vcpus = 1,
                             const std::string& who = "user ann") {
    return story.submit(std::vector<model::WorkItem>(count, story.job(vcpus)), who);
  }
  void boot_all() {
    for (; booted < story.all<CreateCall>().size(); ++booted)
      story.boot(story.all<CreateCall>()[booted].instance);
  }
  std::size_t created() const { return story.all<CreateCall>().size(); }
  model::ShareView held(const std::string& who = "user ann") const {
    for (const auto& one : story.dispatcher.queries().shares(story.now.mono).principals)
      if (one.principal == who) return one;
    return {};
  }
  model::WaitingView why(WorkId id) const {
    return story.dispatcher.queries().waiting(id).value_or(model::WaitingView{});
  }

  Story story;
  model::SitePolicy policy;
  std::size_t booted = 0;
};

/// Small hosts have two cards each.
struct RunningGpusTest : RunningLimitsTest {
  RunningGpusTest() {
    policy.types[0].resources.gpus = 2;
    story.begin();
  }
  void limit_gpus(std::optional<std::int64_t> gpus) {
    policy.quotas.principals["user ann"].running_gpus_max = gpus;
    story.say(PolicyChanged{policy});
  }
  std::vector<WorkId> submit_gpus(std::size_t count, std::int32_t gpus) {
    auto item = story.job(1);
    item.shape.needs.gpus = gpus;
    return story.submit(std::vector<model::WorkItem>(count, item));
  }
};

TEST_F(RunningGpusTest, BeyondTheLimitJobsWaitBuyNoHostsAndSayWhy) {
  limit_gpus(3);
  const auto jobs = submit_gpus(6, 1);
  EXPECT_EQ(created(), 2U);
  EXPECT_EQ(why(jobs[2]).code, WaitingCode::kHostComing);
  EXPECT_EQ(why(jobs[3]).code, WaitingCode::kQuota);
  boot_all();
  EXPECT_EQ(held().gpus, 3);
  EXPECT_EQ(held().gpus_max, 3);
  EXPECT_EQ(why(jobs[5]).reason, "user ann runs 3 of 3 gpus (running_gpus_max)");
  const auto others = submit(1);
  EXPECT_EQ(story.record(others[0]).state, WorkState::kStarting) << "it needs no cards";
  limit_gpus(std::nullopt);
  EXPECT_EQ(created(), 4U);
}

TEST_F(RunningGpusTest, AnEndMakesRoomAtOnce) {
  limit_gpus(2);
  const auto jobs = submit_gpus(3, 2);
  boot_all();
  EXPECT_EQ(held().gpus, 2);
  story.exited(story.record(jobs[0]).instance, jobs[0]);
  EXPECT_EQ(story.record(jobs[1]).state, WorkState::kStarting);
  EXPECT_EQ(held().gpus, 2);
}

TEST_F(RunningGpusTest, AJobBeyondTheWholeLimitWaitsAndSaysThatItCannotStart) {
  limit_gpus(1);
  const auto jobs = submit_gpus(1, 2);
  EXPECT_EQ(why(jobs[0]).reason,
            "it needs 2 gpus, and running_gpus_max of user ann is 1: it cannot start with this "
            "limit");
  EXPECT_EQ(why(submit_gpus(1, 1)[0]).code, WaitingCode::kHostComing) << "it holds up nobody";
}

TEST_F(RunningGpusTest, QuotasShowWhatRuns) {
  limit_gpus(3);
  submit_gpus(4, 1);
  boot_all();
  EXPECT_EQ(story.dispatcher.queries().quota("user ann", story.now.mono).running_gpus, 3);
}

TEST_F(RunningLimitsTest, BeyondTheLimitJobsWaitBuyNoHostsAndSayWhy) {
  story.begin();
  limit_vcpus(4);
  const auto jobs = submit(10);
  EXPECT_EQ(created(), 2U);
  EXPECT_EQ(why(jobs[3]).code, WaitingCode::kHostComing);
  EXPECT_EQ(why(jobs[4]).code, WaitingCode::kQuota);
  EXPECT_THAT(why(jobs[4]).reason,
              AllOf(HasSubstr("user ann runs 0 of 4 vcpus (running_vcpus_max)"),
                    HasSubstr("earlier jobs of user ann take the rest")));
  boot_all();
  EXPECT_EQ(held().vcpus, 4);
  story.pass(1min);
  EXPECT_EQ(created(), 2U);
  EXPECT_EQ(why(jobs[9]).reason, "user ann runs 4 of 4 vcpus (running_vcpus_max)");
  const auto totals = story.dispatcher.queries().totals(story.now.mono);
  EXPECT_EQ(totals.waiting.at(WaitingCode::kQuota), 6U);
}

TEST_F(RunningLimitsTest, AnEndMakesRoomAtOnceAlsoOnAnotherHost) {
  story.begin();
  limit_vcpus(2);
  const auto bobs = submit(1, 2, "user bob");
  const auto jobs = submit(3, 2);
  boot_all();
  EXPECT_EQ(held().running, 1U);
  // Bob's host is free, and Ann may not use it yet.
  const auto of = [&](WorkId id) { return story.record(id).instance; };
  story.exited(of(bobs[0]), bobs[0]);
  EXPECT_EQ(held().running, 1U);
  story.exited(of(jobs[0]), jobs[0]);
  EXPECT_EQ(held().running, 1U) << "the next one started";
  EXPECT_EQ(story.record(jobs[1]).state, WorkState::kStarting);
  EXPECT_EQ(story.record(jobs[2]).state, WorkState::kQueued);
}

TEST_F(RunningLimitsTest, OthersOfTheSameShapeAndOfLowerPriorityGoOn) {
  story.begin();
  limit_vcpus(0);
  auto high = story.job(2);
  high.shape.priority = 5;
  const auto anns = story.submit({50, high});
  const auto bobs = story.submit({2, high}, "user bob");
  const auto low = submit(2, 2, "user bob");
  EXPECT_EQ(created(), 4U);
  boot_all();
  for (const auto id : {bobs[0], bobs[1], low[0], low[1]})
    EXPECT_EQ(story.record(id).state, WorkState::kStarting) << id.text();
  EXPECT_EQ(why(anns[0]).code, WaitingCode::kQuota);
}

// Bug: with `jobs_max` each of them held a whole host, and they counted as nothing.
TEST_F(RunningLimitsTest, JobsThatNeedNothingCountForTheLimitOfPriceByTheirPlaces) {
  policy.types[0].jobs_max = 2;
  story.begin();
  limit_price(300'000);
  auto none = story.job();
  none.shape.needs = {};
  const auto jobs = story.submit(std::vector<model::WorkItem>(10, none));
  boot_all();
  EXPECT_EQ(created(), 2U) << "0.1 for each job, two on a host";
  EXPECT_EQ(held().price_per_hour, model::Micros{300'000});
  EXPECT_EQ(held().running, 3U);
  EXPECT_EQ(why(jobs[3]).code, WaitingCode::kQuota);
}

TEST_F(RunningLimitsTest, AReloadRaisesALimitAndOneThatLowersItEndsNothing) {
  story.begin();
  limit_vcpus(4);
  submit(10);
  boot_all();
  limit_vcpus(6);
  EXPECT_EQ(created(), 3U) << "a plan follows at once";
  boot_all();
  EXPECT_EQ(held().vcpus, 6);
  story.clear();
  booted = 0;
  limit_vcpus(2);
  EXPECT_THAT(story.commands<model::KillAttempt>(), IsEmpty());
  EXPECT_EQ(held().vcpus, 6);
  EXPECT_EQ(held().vcpus_max, 2);
  limit_vcpus(std::nullopt);
  EXPECT_EQ(created(), 2U) << "four more wait";
}

TEST_F(RunningLimitsTest, TheLimitOfARoleIsForEachOfItsPrincipals) {
  policy.quotas.submit.running_vcpus_max = 2;
  policy.quotas.principals["user bob"].running_vcpus_max = 4;
  story.begin();
  story.say(PolicyChanged{policy});
  submit(5, 2);
  submit(5, 2, "user bob");
  submit(5, 2, "user cy");
  EXPECT_EQ(created(), 4U);
  boot_all();
  EXPECT_EQ(held("user ann").vcpus, 2);
  EXPECT_EQ(held("user bob").vcpus, 4);
  EXPECT_EQ(held("user cy").vcpus, 2);
}

TEST_F(RunningLimitsTest, APriceLimitCountsTheShareOfTheHost) {
  story.begin();
  limit_price(250'000);
  const auto jobs = submit(10);
  EXPECT_EQ(created(), 1U) << "two jobs of 0.1 an hour";
  boot_all();
  EXPECT_EQ(held().price_per_hour, model::Micros{200'000});
  EXPECT_THAT(why(jobs[9]).reason,
              HasSubstr("user ann runs 0.20 of 0.25 per hour (running_price_per_hour_max)"));
  limit_price(300'000);
  boot_all();
  EXPECT_EQ(held().price_per_hour, model::Micros{300'000});
}

// The share of a dear host would be more than the limit leaves.
TEST_F(RunningLimitsTest, AFreeHostThatIsTooDearForTheLimitIsNotUsed) {
  policy.types[0].price_per_hour = {900'000};
  policy.pools[0].idle_timeout = 1h;
  story.begin();
  story.say(PolicyChanged{policy});
  const auto bobs = submit(1, 2, "user bob");
  boot_all();
  story.exited(story.record(bobs[0]).instance, bobs[0]);
  policy.types[0].price_per_hour = {300'000};
  limit_price(400'000);
  const auto anns = submit(1, 2);
  EXPECT_EQ(story.record(anns[0]).state, WorkState::kQueued);
  EXPECT_EQ(created(), 2U) << "a cheaper one is bought";
  boot_all();
  EXPECT_EQ(held().price_per_hour, model::Micros{300'000});
}

TEST_F(RunningLimitsTest, AJobBeyondTheWholeLimitWaitsAndSaysThatItCannotStart) {
  story.begin();
  limit_vcpus(1);
  const auto jobs = submit(1, 2);
  EXPECT_THAT(why(jobs[0]).reason,
              AllOf(HasSubstr("needs 2 vcpus"), HasSubstr("running_vcpus_max of user ann is 1"),
                    HasSubstr("cannot start")));
  const auto small = submit(1, 1);
  EXPECT_EQ(why(small[0]).code, WaitingCode::kHostComing) << "it holds up nobody";
  limit_vcpus(std::nullopt);
  limit_price(100'000);
  EXPECT_THAT(why(jobs[0]).reason,
              AllOf(HasSubstr("0.20 per hour"), HasSubstr("of user ann is 0.10"),
                    HasSubstr("cannot start")));
}

TEST_F(RunningLimitsTest, AStalePlanPlacesNoMoreThanTheLimitAllowsNow) {
  story.begin();
  submit(2, 1, "user bob");
  boot_all();
  const auto host = story.all<CreateCall>()[0].instance;
  for (const auto& start : story.commands<model::StartAttempt>())
    story.exited(host, start.attempt.work);
  story.plans_wait = true;
  const auto jobs = submit(2);
  ASSERT_TRUE(story.plan);
  ASSERT_THAT(story.plan->plan.places, SizeIs(1));
  ASSERT_EQ(story.plan->plan.places[0].count, 2U);
  auto stale = std::move(*story.plan);
  // As if it had been made before the limit, and came in after the reload.
  limit_vcpus(1);
  ASSERT_TRUE(story.plan);
  stale.number = story.plan->number;
  story.say(std::move(stale));
  EXPECT_EQ(held().vcpus, 1);
  EXPECT_EQ(story.record(jobs[1]).state, WorkState::kQueued);
}

TEST_F(RunningLimitsTest, WhatAHostHeldIsFreeOnceItIsLostAndOnlyOnce) {
  story.begin();
  limit_vcpus(2);
  const auto [job, host] = story.running(true);
  submit(4, 1);
  EXPECT_EQ(held().vcpus, 2);
  story.host(host, model::HostLost{"no route"});
  EXPECT_EQ(held().vcpus, 2) << "it may run still";
  story.list({});
  story.list({});
  EXPECT_EQ(held().vcpus, 0);
  EXPECT_EQ(created(), 2U) << "a host for it, and for nothing else";
  booted = 1;
  boot_all();
  EXPECT_EQ(held().vcpus, 2);
}

TEST_F(RunningLimitsTest, AJobWhoseOutputIsFetchedHoldsNothing) {
  story.begin();
  limit_vcpus(2);
  const auto [job, host] = story.running();
  const auto next = submit(1, 2);
  model::AttemptEnd end;
  end.exit_code = 0;
  end.ended = story.now.wall;
  end.output_is_inline = false;
  story.host(host, model::AttemptExited{{job, 1}, end});
  EXPECT_EQ(story.record(job).state, WorkState::kCollecting);
  EXPECT_EQ(story.record(next[0]).state, WorkState::kStarting);
  EXPECT_EQ(held().vcpus, 2);
  story.host(host, model::AttemptCollected{{job, 1}, ""});
  EXPECT_EQ(held().vcpus, 2);
}

TEST_F(RunningLimitsTest, ARestartKnowsWhatRuns) {
  policy.quotas.submit.running_vcpus_max = 3;
  Story after(policy);
  auto site = busy_site();
  site.instances[0].record.total = policy.types[0].resources;
  auto waiting = job(WorkState::kQueued);
  waiting.record.id = {6};
  waiting.arrival = 6;
  site.work.push_back(waiting);
  site.last_work = site.last_arrival = 6;
  after.begin(std::move(site));
  after.ready({7}, {{{{5}, 1}, model::AttemptPhase::kRunning}});
  EXPECT_THAT(after.all<CreateCall>(), IsEmpty());
  EXPECT_EQ(after.dispatcher.queries().waiting(WorkId{6})->code, WaitingCode::kQuota);
  after.exited({7}, {5});
  EXPECT_EQ(after.record(WorkId{6}).state, WorkState::kStarting);
}

TEST_F(RunningLimitsTest, QuotasShowWhatRuns) {
  story.begin();
  limit_vcpus(3);
  submit(4);
  boot_all();
  const auto view = story.dispatcher.queries().quota("user ann", story.now.mono);
  EXPECT_EQ(view.running_vcpus, 3);
  EXPECT_EQ(view.running_price_per_hour, model::Micros{300'000});
}

}  // namespace
}  // namespace hostler::dispatch

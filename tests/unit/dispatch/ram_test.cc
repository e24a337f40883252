#include "core/dispatch/state/ram_reports.h"
#include "tests/unit/dispatch/story.h"

/// Hosts that report less RAM than the menu says, RAM that is reserved, and jobs that need no vcpu.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RamTest : public testing::Test {
 protected:
  static model::SitePolicy site() {
    auto out = small_site();
    out.types[0].resources.ram = 8 * kGiB;
    out.types[1].resources.ram = 32 * kGiB;
    return out;
  }
  static model::SitePolicy small_only() {
    auto out = site();
    out.pools[0].types = {"small"};
    return out;
  }

  static Submit submit_of(model::WorkItem job) {
    Submit out;
    out.ticket = 1;
    out.principal = "user ann";
    out.work = {std::move(job)};
    return out;
  }

  struct Site : Story {
    using Story::Story;
    model::WorkItem job_of(std::int64_t ram,
                           model::Vcpus vcpus = model::Vcpus::of_thousandths(250)) {
      auto out = job();
      out.shape.needs = {.vcpus = vcpus, .gpus = 0, .ram = ram, .scratch = 0};
      return out;
    }
    void boot(InstanceId id, std::optional<std::int64_t> ram) {
      say(CreateSeen{id, seen(id)});
      create_ended(id);
      host(id, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
      host(id, model::HostReady{"boot-1", ++connections, 0, {}, {}, ram});
    }
    model::InstanceView view(InstanceId id) { return *dispatcher.queries().instance(id, now); }
    model::TypeView type(std::size_t index) { return dispatcher.queries().types().at(index); }
    std::uint64_t connections = 0;
  };
};

TEST_F(RamTest, AHostThatReportsLessGetsNoMoreJobsThanItHolds) {
  Site story(small_only());
  story.begin();
  (void)story.submit({story.job_of(4 * kGiB), story.job_of(4 * kGiB)});
  const auto host = story.all<CreateCall>().at(0).instance;

  story.boot(host, 7 * kGiB);

  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
  EXPECT_EQ(story.view(host).total.ram, 7 * kGiB);
}

TEST_F(RamTest, AHostThatReportsMoreOrNothingHasTheRamOfTheMenu) {
  for (const auto& ram : {std::optional<std::int64_t>(64 * kGiB), std::optional<std::int64_t>()}) {
    Site story(small_only());
    story.begin();
    (void)story.submit({story.job_of(8 * kGiB)});
    const auto host = story.all<CreateCall>().at(0).instance;

    story.boot(host, ram);

    EXPECT_EQ(story.view(host).total.ram, 8 * kGiB);
    EXPECT_THAT(story.journalled<model::RamReport>(), IsEmpty());
  }
}

TEST_F(RamTest, TheNextHostIsBoughtByWhatTheFirstHasReported) {
  Site story(site());
  story.begin();
  (void)story.submit({story.job_of(8 * kGiB)});
  ASSERT_EQ(story.all<CreateCall>().at(0).request->type.name, "small");

  story.boot(story.all<CreateCall>().at(0).instance, 7 * kGiB);
  story.pass(10s);

  ASSERT_THAT(story.all<CreateCall>(), SizeIs(2));
  EXPECT_EQ(story.all<CreateCall>().at(1).request->type.name, "large");
  EXPECT_THAT(story.ledger(), Contains("set west ram_learned small"));
  EXPECT_EQ(story.type(0).ram_for_jobs, 7 * kGiB);
}

TEST_F(RamTest, WorkThatFitsNowhereNowBuysNothingAndSaysWhy) {
  Site story(small_only());
  story.begin();
  const auto id = story.submit({story.job_of(8 * kGiB)}).at(0);
  story.boot(story.all<CreateCall>().at(0).instance, 7 * kGiB);
  for (int i = 0; i < 10; ++i) story.pass(30s);

  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
  EXPECT_EQ(story.dispatcher.queries().waiting(id)->reason,
            "small: 7 GiB of 8 GiB ram, type small has 8 GiB of ram on the menu, its hosts report "
            "7 GiB");
  EXPECT_FALSE(story.ask(submit_of(story.job_of(8 * kGiB))));
}

TEST_F(RamTest, TheLeastThatWasReportedCountsAlsoAfterARestart) {
  Site before(small_only());
  before.begin();
  (void)before.submit({before.job_of(kGiB, 2), before.job_of(kGiB, 2)});
  before.boot(before.all<CreateCall>().at(0).instance, 7 * kGiB);
  before.boot(before.all<CreateCall>().at(1).instance, 7 * kGiB + kGiB / 2);
  const auto rows = before.journalled<model::RamReport>();
  ASSERT_EQ(rows, (std::vector<model::RamReport>{{"west", "small", 8 * kGiB, 7 * kGiB}}));

  Site after(site());
  model::Restored restored;
  restored.ram_reports = rows;
  after.begin(restored);
  (void)after.submit({after.job_of(8 * kGiB)});

  EXPECT_EQ(after.all<CreateCall>().at(0).request->type.name, "large");
}

TEST_F(RamTest, WhatWasReportedIsForgottenWhenTheMenuHasOtherRam) {
  auto policy = small_only();
  Site story(policy);
  model::Restored restored;
  restored.ram_reports = {{"west", "small", 8 * kGiB, 7 * kGiB},
                          {"west", "large", 16 * kGiB, 9 * kGiB}};
  story.begin(restored);
  EXPECT_EQ(story.journalled<model::RamForgotten>(),
            (std::vector<model::RamForgotten>{{"west", "large"}}));
  story.clear();

  policy.types[0].resources.ram = 9 * kGiB;
  story.say(PolicyChanged{policy});

  EXPECT_EQ(story.journalled<model::RamForgotten>(),
            (std::vector<model::RamForgotten>{{"west", "small"}}));
  EXPECT_EQ(story.type(0).ram_for_jobs, 9 * kGiB);
}

TEST_F(RamTest, ANewHostWithLessThanHalfIsBrokenEndedAndNothingIsLearned) {
  Site story(small_only());
  story.begin();
  (void)story.submit({story.job_of(kGiB)});
  const auto host = story.all<CreateCall>().at(0).instance;

  story.boot(host, 4 * kGiB - 1);

  EXPECT_EQ(story.state(host), InstanceState::kTerminating);
  EXPECT_THAT(story.ledger(), Contains(host.text() + " broken ram"));
  EXPECT_EQ(story.record(host).health, model::Health::kBroken);
  EXPECT_THAT(story.record(host).reason,
              HasSubstr("it reports 4 GiB of RAM, less than half of the 8 GiB that type small has "
                        "on the menu"));
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  EXPECT_THAT(story.journalled<model::RamReport>(), IsEmpty());
}

TEST_F(RamTest, HalfIsEnough) {
  Site story(small_only());
  story.begin();
  (void)story.submit({story.job_of(kGiB)});

  story.boot(story.all<CreateCall>().at(0).instance, 4 * kGiB);

  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
}

TEST_F(RamTest, NewHostsWithLessThanHalfAreNotBoughtWithoutEnd) {
  Site story(small_only());
  story.begin();
  (void)story.submit({story.job_of(kGiB)});
  std::size_t booted = 0;
  for (int round = 0; round < 20; ++round) {
    const auto creates = story.all<CreateCall>();
    if (booted < creates.size()) story.boot(creates[booted++].instance, kGiB);
    story.pass(1s);
  }

  EXPECT_EQ(story.all<CreateCall>().size(), 3U) << "then their gate is shut";
}

TEST_F(RamTest, ABusyHostThatReportsLessThanHalfLaterKeepsItsWorkAndGetsNoMore) {
  Site story(small_only());
  story.begin();
  (void)story.submit({story.job_of(kGiB)});
  const auto host = story.all<CreateCall>().at(0).instance;
  story.boot(host, 8 * kGiB);
  const auto start = story.commands<model::StartAttempt>().at(0);
  story.clear();

  story.host(host, model::HostReady{
                       "boot-1", 9, 1, {{start.attempt, model::AttemptPhase::kRunning}}, {}, kGiB});
  (void)story.submit({story.job_of(kGiB)});

  EXPECT_EQ(story.state(host), InstanceState::kBusy);
  EXPECT_THAT(story.ledger(), Contains(host.text() + " broken ram"));
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
}

TEST_F(RamTest, TheReserveIsTakenOffTheMenuAndOffWhatIsReported) {
  auto policy = small_only();
  policy.types[0].reserve = {.bytes = kGiB, .share = 0};
  Site story(policy);
  story.begin();
  EXPECT_FALSE(story.ask(submit_of(story.job_of(8 * kGiB))));
  (void)story.submit({story.job_of(7 * kGiB)});
  const auto host = story.all<CreateCall>().at(0).instance;

  story.boot(host, 7 * kGiB);

  EXPECT_EQ(story.view(host).total.ram, 6 * kGiB);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
}

TEST_F(RamTest, AHostRunsNoMoreJobsThanItsTypeSaysWhateverTheyNeed) {
  auto policy = small_only();
  policy.types[0].jobs_max = 3;
  Site story(policy);
  story.begin();
  std::vector<model::WorkItem> jobs(7, story.job_of(0, 0));
  (void)story.submit(std::move(jobs));

  ASSERT_THAT(story.all<CreateCall>(), SizeIs(3));
  story.boot(story.all<CreateCall>().at(0).instance, {});

  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(3));
}

TEST_F(RamTest, FourJobsOfAQuarterShareAVcpu) {
  auto policy = small_only();
  policy.types[0].resources.vcpus = 1;
  Site story(policy);
  story.begin();
  (void)story.submit(std::vector<model::WorkItem>(4, story.job_of(kGiB)));

  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1));
  story.boot(story.all<CreateCall>().at(0).instance, {});

  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(4));
}

TEST(RamReportsTest, OneOddHostDoesNotDecideForEver) {
  RamReports reports;
  model::InstanceType type;
  type.name = "small";
  type.resources.ram = 4 * kGiB;
  ASSERT_TRUE(reports.take("west", type, {1}, 3 * kGiB));
  for (std::uint64_t host = 2; host <= 10; ++host)
    for (int again = 0; again < 3; ++again)
      EXPECT_FALSE(reports.take("west", type, {host}, 4 * kGiB - 1)) << host;
  EXPECT_EQ(reports.expected("west", type), 3 * kGiB);
  const auto raised = reports.take("west", type, {11}, 4 * kGiB);
  ASSERT_TRUE(raised);
  EXPECT_LE(raised->ram, 4 * kGiB - 1);
  EXPECT_GT(raised->ram, 4 * kGiB - kGiB / 32);
  EXPECT_EQ(reports.expected("west", type), raised->ram);
}

TEST(RamReportsTest, AHostThatReportsLessAndLessIsHeardRarely) {
  RamReports reports;
  model::InstanceType type;
  type.name = "small";
  type.resources.ram = 4 * kGiB;
  int heard = 0;
  for (std::int64_t less = 1; less < 100'000; ++less)
    heard += reports.take("west", type, {1}, 4 * kGiB - less).has_value() ? 1 : 0;
  EXPECT_EQ(heard, 1);
}

TEST(RamReportsTest, AreBoundedInNumber) {
  RamReports reports;
  for (std::size_t i = 0; i < RamReports::kReportsMax + 5; ++i) {
    model::InstanceType type;
    type.name = "t" + std::to_string(i);
    type.resources.ram = 100;
    EXPECT_EQ(reports.take("west", type, {1}, 90).has_value(), i < RamReports::kReportsMax);
  }
  EXPECT_THAT(reports.settle({}), SizeIs(RamReports::kReportsMax)) << "no type is on the menu";
}

}  // namespace
}  // namespace hostler::dispatch

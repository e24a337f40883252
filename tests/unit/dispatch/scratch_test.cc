#include "tests/unit/dispatch/story.h"

/// Hosts that report less scratch than their type has.
namespace hostler::dispatch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ScratchTest : public testing::Test {
 protected:
  static model::SitePolicy site() {
    auto out = small_site();
    for (auto& type : out.types) type.resources.scratch = 100 * kGiB;
    out.pools[0].types = {"small"};
    return out;
  }
  void SetUp() override { story.begin(); }

  model::WorkItem job(std::int64_t scratch) {
    auto out = story.job();
    out.shape.needs.scratch = scratch;
    return out;
  }
  void boot(InstanceId id, std::optional<std::int64_t> scratch) {
    story.say(CreateSeen{id, story.seen(id)});
    story.create_ended(id);
    story.host(id, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
    story.host(id, model::HostReady{"boot-1", ++connections, 0, {}, scratch});
  }
  model::InstanceView view(InstanceId id) {
    return *story.dispatcher.queries().instance(id, story.now);
  }

  Story story{site()};
  std::uint64_t connections = 0;
};

TEST_F(ScratchTest, AHostThatReportsLessGetsNoMoreJobsThanItHoldsAndSaysSo) {
  (void)story.submit({job(30 * kGiB), job(30 * kGiB)});
  const auto host = story.all<CreateCall>().at(0).instance;

  boot(host, 40 * kGiB);

  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
  EXPECT_EQ(view(host).total.scratch, 40 * kGiB);
  EXPECT_THAT(view(host).conditions,
              testing::Contains(HasSubstr("reports 40 GiB of scratch, its type has 100 GiB")));
}

TEST_F(ScratchTest, AHostThatReportsMoreThanItsTypeHasGetsWhatTheTypeHas) {
  (void)story.submit({job(60 * kGiB), job(60 * kGiB)});
  const auto host = story.all<CreateCall>().at(0).instance;

  boot(host, std::int64_t{1} << 60);

  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
  EXPECT_EQ(view(host).total.scratch, 100 * kGiB);
  EXPECT_THAT(view(host).conditions, IsEmpty());
}

TEST_F(ScratchTest, AHostThatReportsNothingHasTheScratchOfItsType) {
  (void)story.submit({job(60 * kGiB)});

  boot(story.all<CreateCall>().at(0).instance, std::nullopt);

  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
}

TEST_F(ScratchTest, AHostWithoutScratchRunsJobsThatNeedNone) {
  (void)story.submit({job(0)});

  boot(story.all<CreateCall>().at(0).instance, 0);

  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
}

// Hosts would be bought for it for ever.
TEST_F(ScratchTest, AJobThatThreeHostsOfATypeCouldNotHoldBuysNoFourthAndSaysWhy) {
  const auto id = story.submit({job(60 * kGiB)}).at(0);
  std::size_t booted = 0;
  for (int round = 0; round < 20; ++round) {
    const auto creates = story.all<CreateCall>();
    if (booted < creates.size()) boot(creates[booted++].instance, 40 * kGiB);
    story.pass(10s);
  }

  EXPECT_EQ(booted, 3U);
  EXPECT_EQ(story.all<CreateCall>().size(), 3U);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  EXPECT_EQ(story.dispatcher.queries().waiting(id)->reason,
            "small: 40 GiB of 60 GiB scratch, what its hosts report");
}

TEST_F(ScratchTest, OneHostThatReportsLittleIsNoReasonToBuyNoOther) {
  (void)story.submit({job(60 * kGiB)});
  boot(story.all<CreateCall>().at(0).instance, 0);
  story.pass(10s);
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(2));

  boot(story.all<CreateCall>().at(1).instance, 100 * kGiB);

  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
}

TEST_F(ScratchTest, ReportsOfATypeAreForgottenWhenTheConfigurationIsReadAgain) {
  (void)story.submit({job(60 * kGiB)});
  for (std::size_t n = 0; n < 3; ++n) {
    boot(story.all<CreateCall>().at(n).instance, 40 * kGiB);
    story.pass(10s);
  }
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(3));

  story.say(PolicyChanged{site()});
  story.pass(10s);

  EXPECT_THAT(story.all<CreateCall>(), SizeIs(4));
}

}  // namespace
}  // namespace hostler::dispatch

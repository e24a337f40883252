#include "tests/unit/dispatch/story.h"

/// Gates through the dispatcher: which creates they hold back, and what opens them.
namespace hostler::dispatch {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class GateStoryTest : public testing::Test {
 protected:
  void SetUp() override { story.begin(); }
  /// Submits a job that needs a new host, and refuses its create.
  InstanceId refused(const model::CloudError& error) {
    (void)story.submit({story.job(2)});
    const auto calls = story.all<CreateCall>();
    EXPECT_THAT(calls, testing::Not(IsEmpty()));
    story.clear();
    story.create_ended(calls.back().instance, error);
    return calls.back().instance;
  }
  std::vector<model::GateRecord> gates() const {
    return story.dispatcher.queries().gates(story.now.mono);
  }
  /// The types that were asked for since the last clear().
  static std::vector<std::string> created(const Story& in) {
    std::vector<std::string> types;
    for (const auto& call : in.all<CreateCall>()) types.push_back(call.request->type.name);
    return types;
  }

  Story story;
};

model::CloudError full_subnet() {
  auto out = error(CloudErrorClass::kCapacity);
  out.scope = model::scope::kSubnet;
  out.subnet = "subnet-a";
  return out;
}

// Bug: one full subnet shut every type of the market.
TEST_F(GateStoryTest, AFullSubnetLeavesOtherTypesToBeMade) {
  (void)refused(full_subnet());
  story.clear();
  for (int n = 0; n < 100; ++n) story.pass(100ms);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty()) << "the same create again and again";

  (void)story.submit({story.job(8)});

  EXPECT_THAT(created(story), testing::ElementsAre("large"));
}

TEST_F(GateStoryTest, AFullSubnetIsRememberedAcrossARestart) {
  (void)refused(full_subnet());
  const auto shut = story.journalled<model::GateChanged>();
  ASSERT_THAT(shut, SizeIs(1));
  EXPECT_EQ(shut[0].record.subnet, "subnet-a");

  Story next;
  next.now = story.now;
  model::Restored restored;
  restored.gates.push_back(shut[0].record);
  next.begin(std::move(restored));
  (void)next.submit({next.job(2), next.job(8)});

  EXPECT_THAT(created(next), testing::ElementsAre("large"));
}

// Bug: the admin had the quota raised, and the gate stayed shut for up to half an hour.
TEST_F(GateStoryTest, AReloadOpensAQuotaGate) {
  (void)refused(error(CloudErrorClass::kQuota));
  ASSERT_THAT(gates(), SizeIs(1));
  auto job = story.job(2);
  job.shape.constraints.types = {"small"};
  (void)story.submit({job});
  story.clear();

  story.say(PolicyChanged{small_site()});

  EXPECT_THAT(gates(), IsEmpty());
  EXPECT_THAT(story.journalled<model::GateOpened>(), SizeIs(1));
  EXPECT_THAT(created(story), testing::ElementsAre("small"));
}

TEST_F(GateStoryTest, AReloadDoesNotOpenAGateOfStock) {
  (void)refused(error(CloudErrorClass::kCapacity));
  story.say(PolicyChanged{small_site()});
  EXPECT_THAT(gates(), SizeIs(1));
}

// Bug: the cloud had said how long to wait, and lists went on within a minute.
TEST_F(GateStoryTest, AListWaitsAsLongAsTheCloudAsksWhateverWantsOne) {
  auto busy = error(CloudErrorClass::kTransient);
  busy.retry_after = 5min;
  ASSERT_THAT(story.all<ListCall>(), SizeIs(1)) << "the first of an open set";
  story.say(SetListed{"west", story.now.mono, tl::unexpected(busy)});
  story.clear();
  (void)story.submit({story.job(2)});
  story.create_ended(story.all<CreateCall>().at(0).instance,
                     error(CloudErrorClass::kTransient, true));
  for (int n = 0; n < 29; ++n) story.pass(10s);
  EXPECT_THAT(story.all<ListCall>(), IsEmpty());
  story.pass(11s);
  EXPECT_THAT(story.all<ListCall>(), SizeIs(1));
}

TEST_F(GateStoryTest, AnAdminOpensAGateAndTheCreateIsTriedAtOnce) {
  (void)refused(error(CloudErrorClass::kCapacity));
  ASSERT_THAT(gates(), SizeIs(1));
  const auto key = gates()[0].key;
  story.clear();

  EXPECT_TRUE(story.ask(OpenGate{0, "user root", key}));

  EXPECT_THAT(gates(), IsEmpty());
  EXPECT_THAT(created(story), testing::ElementsAre("small"));
  ASSERT_THAT(story.journalled<model::GateOpened>(), SizeIs(1));
  EXPECT_EQ(story.journalled<model::GateOpened>()[0].key, key);
  const auto record = story.journalled<model::LedgerRecord>().at(0);
  EXPECT_EQ(record.subject, "gate " + key);
  EXPECT_EQ(record.event, model::Event::kGateOpened);
  EXPECT_EQ(record.actor, "user");
  EXPECT_EQ(record.reason, "by user root");
  const auto again = story.ask(OpenGate{0, "user root", key});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::kNotFound);
}

TEST_F(GateStoryTest, AGateThatDoesNotExistIsNotOpened) {
  (void)refused(error(CloudErrorClass::kCapacity));
  story.clear();
  const auto answer = story.ask(OpenGate{0, "user root", "no\nsuch gate"});

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kNotFound);
  EXPECT_EQ(answer.error().message.find('\n'), std::string::npos);
  EXPECT_THAT(gates(), SizeIs(1));
  EXPECT_THAT(story.changes, IsEmpty());
}

TEST_F(GateStoryTest, AnOpenedGateShutsAgainIfTheCloudStillRefuses) {
  (void)refused(error(CloudErrorClass::kCapacity));
  const auto key = gates().at(0).key;
  (void)story.ask(OpenGate{0, "user root", key});
  story.create_ended(story.all<CreateCall>().back().instance, error(CloudErrorClass::kCapacity));

  ASSERT_THAT(gates(), SizeIs(1));
  EXPECT_EQ(gates()[0].key, key);
  EXPECT_EQ(gates()[0].failures, 1U);
}

TEST_F(GateStoryTest, OpeningAGateOfAllCallsSendsTheListsAndDestroysThatItHeldBack) {
  const auto [job, on] = story.running();
  auto slow = error(CloudErrorClass::kRateLimit);
  slow.retry_after = 30min;
  story.pass(1min);
  story.say(SetListed{"west", story.now.mono, tl::unexpected(slow)});
  ASSERT_THAT(gates(), SizeIs(1));
  (void)story.ask(KillInstance{0, "user root", on, ""});
  story.pass(2min);
  ASSERT_THAT(story.all<DestroyCall>(), IsEmpty()) << "held back";
  story.clear();

  (void)story.ask(OpenGate{0, "user root", gates().at(0).key});
  story.pass(10s);

  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
  EXPECT_THAT(story.all<ListCall>(), SizeIs(1));
}

}  // namespace
}  // namespace hostler::dispatch

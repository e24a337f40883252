#include "tests/unit/dispatch/story.h"

/// Tags of instances that somebody changed or removed in the cloud.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A job runs on a host whose create was a while ago.
class TagRepairTest : public testing::Test {
 protected:
  void SetUp() override {
    story.begin();
    on = story.running().second;
    story.pass(3min);
    story.list({seen()});
    story.clear();
  }
  model::ListedInstance seen() { return story.seen(on); }
  void list_without(std::string model::ListedInstance::*tag) {
    auto one = seen();
    (one.*tag).clear();
    story.list({one});
  }

  Story story;
  InstanceId on;
};

TEST_F(TagRepairTest, TagsAsTheyShouldBeAreNotWritten) {
  story.list({seen()});
  EXPECT_THAT(story.all<TagsCall>(), IsEmpty());
}

TEST_F(TagRepairTest, EachMissingOrChangedTagIsWrittenAgain) {
  using Seen = model::ListedInstance;
  const auto record = story.record(on);
  const std::vector<std::tuple<std::string Seen::*, const char*, std::string>> table{
      {&Seen::pool, model::tag::kPool, "default"},
      {&Seen::type, model::tag::kType, "small"},
      {&Seen::idle, model::tag::kIdle, "run"},
      {&Seen::idempotency_key, model::tag::kKey, record.idempotency_key},
      {&Seen::owner, model::tag::kOwner, "us"},
      {&Seen::set_id, model::tag::kSet, "west"}};
  for (const auto& [member, name, value] : table) {
    story.clear();
    list_without(member);
    ASSERT_THAT(story.all<TagsCall>(), SizeIs(1)) << name;
    EXPECT_EQ(story.all<TagsCall>()[0].request.id, record.provider_id);
    EXPECT_EQ(story.all<TagsCall>()[0].request.set, (model::Tags{{name, value}}));
    story.say(TagsEnded{on, {}});
    story.pass(1s);
    story.list({seen()});
    story.pass(10min);
  }
  auto changed = seen();
  changed.pool = "other";
  story.clear();
  story.list({changed});
  ASSERT_THAT(story.all<TagsCall>(), SizeIs(1));
  EXPECT_EQ(story.all<TagsCall>()[0].request.set, (model::Tags{{"hostler-pool", "default"}}));
  EXPECT_EQ(story.dispatcher.queries().instances().size(), 1U);
}

// Bug: without its key the host was a stranger, which was destroyed in the end, and the host itself
// had vanished: its job ended as host_lost.
TEST_F(TagRepairTest, AHostWithoutItsKeyIsRecognisedByItsCloudId) {
  for (const std::string key : {"", "another"}) {
    auto one = seen();
    one.idempotency_key = key;
    for (int n = 0; n < 3; ++n) story.list({one});
  }
  ASSERT_THAT(story.dispatcher.queries().instances(), SizeIs(1));
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
}

// Bug: it stayed unlisted, and could not be recognised after the loss of the store.
TEST_F(TagRepairTest, AHostWithoutTheTagOfItsSetIsFoundByItsCloudIdAndTaggedAgain) {
  auto bare = seen();
  bare.set_id.clear();
  bare.owner.clear();
  story.look_up = std::vector{bare};
  story.list({});
  story.pass(2s);
  ASSERT_THAT(story.all<TagsCall>(), SizeIs(1));
  EXPECT_EQ(story.all<TagsCall>()[0].request.set,
            (model::Tags{{"hostler-owner", "us"}, {"hostler-set", "west"}}));
}

TEST_F(TagRepairTest, IsReportedOnceWhenItHasSucceeded) {
  list_without(&model::ListedInstance::pool);
  EXPECT_THAT(story.ledger(), IsEmpty());
  story.say(TagsEnded{on, {}});
  EXPECT_THAT(story.ledger(), ElementsAre(on.text() + " tags_repaired"));
  EXPECT_THAT(story.journalled<model::LedgerRecord>()[0].reason, HasSubstr("hostler-pool"));
  story.list({seen()});
  story.pass(10min);
  list_without(&model::ListedInstance::pool);
  story.say(TagsEnded{on, {}});
  EXPECT_THAT(story.all<TagsCall>(), SizeIs(2));
  EXPECT_THAT(story.ledger(), Contains(on.text() + " tags_repaired").Times(1));
}

TEST_F(TagRepairTest, OneCallIsUnderWayAndTheNextWaits) {
  const auto lists = [&](Duration time) {
    for (Duration t{}; t < time; t += 10s) {
      list_without(&model::ListedInstance::pool);
      story.pass(9s);
    }
    return story.all<TagsCall>().size();
  };
  EXPECT_EQ(lists(20min), 1U) << "no answer yet";
  story.say(TagsEnded{on, error(CloudErrorClass::kAuth)});
  EXPECT_THAT(story.ledger(), Contains(on.text() + " tags_failed auth"));
  EXPECT_EQ(lists(1min), 2U);
  story.say(TagsEnded{on, {}});
  EXPECT_EQ(lists(8min), 2U) << "twice the first pause";
  EXPECT_EQ(lists(5min), 3U);
  story.say(TagsEnded{on, error(CloudErrorClass::kUnsupported)});
  EXPECT_EQ(lists(10h), 3U) << "the cloud never will";
}

// Bug: such a refusal holds back every function, and tags were written all the same.
TEST_F(TagRepairTest, TagsWaitWhileTheRateOfTheSetIsLimited) {
  auto slow = error(CloudErrorClass::kRateLimit);
  slow.retry_after = 1h;
  const Mono listed = story.now.mono;
  story.pass(1min);
  story.say(SetListed{"west", listed, tl::unexpected(slow)});

  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold});
  EXPECT_THAT(story.all<TagsCall>(), IsEmpty());

  auto old = seen();
  old.idle = "run";
  story.pass(1h);
  story.list({old});
  EXPECT_THAT(story.all<TagsCall>(), SizeIs(1));
}

TEST_F(TagRepairTest, ARefusalToWriteTagsHoldsBackNothingElse) {
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold});
  story.say(TagsEnded{on, error(CloudErrorClass::kAuth)});
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kRun});
  EXPECT_THAT(story.all<TagsCall>(), SizeIs(1));
  (void)story.submit({story.job(2)});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

// Bug: the gate waited for ever for the answer of a call about an instance that was gone.
TEST_F(TagRepairTest, AProbeWhoseHostIsGoneLeavesTheGateToTheNextOne) {
  const auto other = story.running().second;
  const auto hold = [&](InstanceId id, model::IdleBehavior behavior) {
    story.clear();
    (void)story.ask(SetIdleBehavior{0, "user root", id, behavior});
    return story.all<TagsCall>().size();
  };
  ASSERT_EQ(hold(on, model::IdleBehavior::kHold), 1U);
  story.say(TagsEnded{on, error(CloudErrorClass::kAuth)});
  ASSERT_EQ(hold(other, model::IdleBehavior::kHold), 0U) << "the gate is shut";
  story.pass(1min);
  ASSERT_EQ(hold(on, model::IdleBehavior::kRun), 1U) << "it probes";
  (void)story.ask(KillInstance{0, "user root", on, ""});
  story.say(DestroyEnded{on, {}});
  const auto hosts = [&] { return story.dispatcher.queries().instances().size(); };
  for (int n = 0; n < 5 && hosts() > 1; ++n) story.list({story.seen(other)});
  ASSERT_EQ(hosts(), 1U);
  story.pass(10s);
  EXPECT_EQ(hold(other, model::IdleBehavior::kRun), 1U);
}

TEST_F(TagRepairTest, AHostThatGoesLeavesTheProbeOfAnotherAlone) {
  const auto other = story.running().second;
  const auto hold = [&](InstanceId id, model::IdleBehavior behavior) {
    story.clear();
    (void)story.ask(SetIdleBehavior{0, "user root", id, behavior});
    return story.all<TagsCall>().size();
  };
  ASSERT_EQ(hold(on, model::IdleBehavior::kHold), 1U) << "sent before the gate is shut";
  ASSERT_EQ(hold(other, model::IdleBehavior::kHold), 1U);
  story.say(TagsEnded{other, error(CloudErrorClass::kAuth)});
  story.pass(1min);
  ASSERT_EQ(hold(other, model::IdleBehavior::kRun), 1U) << "it probes";
  (void)story.ask(KillInstance{0, "user root", on, ""});
  story.say(DestroyEnded{on, {}});
  const auto hosts = [&] { return story.dispatcher.queries().instances().size(); };
  for (int n = 0; n < 5 && hosts() > 1; ++n) story.list({story.seen(other)});
  ASSERT_EQ(hosts(), 1U);
  story.pass(10s);
  EXPECT_EQ(hold(other, model::IdleBehavior::kHold), 0U) << "the probe is still under way";
}

TEST_F(TagRepairTest, AListFromBeforeTheLastWriteTellsNothing) {
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold});
  auto old = seen();
  old.idle = "run";
  const Mono sent = story.now.mono;
  story.list({old});
  story.say(TagsEnded{on, {}});
  story.say(SetListed{"west", sent, model::share({old})});
  EXPECT_THAT(story.all<TagsCall>(), SizeIs(1)) << "that of the hold";
  EXPECT_THAT(story.ledger(), testing::Not(Contains(HasSubstr("tags_repaired"))));
}

TEST_F(TagRepairTest, AHoldWhoseTagWasRefusedIsTaggedLater) {
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold});
  story.say(TagsEnded{on, error(CloudErrorClass::kTransient)});
  story.pass(1s);
  auto old = seen();
  old.idle = "run";
  story.list({old});
  ASSERT_THAT(story.all<TagsCall>(), SizeIs(2));
  EXPECT_EQ(story.all<TagsCall>()[1].request.set, (model::Tags{{"hostler-idle", "hold"}}));
}

TEST_F(TagRepairTest, TagsOfAnotherOwnerOrUnknownOnesAreLeftAlone) {
  auto taken = seen();
  taken.owner = "them";
  taken.pool = "theirs";
  story.list({taken});
  auto moved = seen();
  moved.set_id = "east";
  story.list({moved});
  auto unread = seen();
  unread.pool.clear();
  unread.tags_unknown = true;
  story.list({unread});
  EXPECT_THAT(story.all<TagsCall>(), IsEmpty());
}

TEST_F(TagRepairTest, ANewInstanceMayHaveItsTagsALittleLater) {
  Story fresh;
  fresh.begin();
  const auto host = fresh.running().second;
  auto bare = fresh.seen(host);
  bare.pool.clear();
  fresh.list({bare});
  EXPECT_THAT(fresh.all<TagsCall>(), IsEmpty());
}

TEST_F(TagRepairTest, OneListLeadsToAFewRepairsOnly) {
  model::Restored restored;
  std::vector<model::ListedInstance> bare;
  for (std::uint64_t id = 1; id <= 50; ++id) {
    auto& record = restored.instances.emplace_back().record;
    record.id = {id};
    record.set = "west";
    record.pool = "default";
    record.type = "small";
    record.state = InstanceState::kIdle;
    record.idle_behavior = model::IdleBehavior::kHold;
    record.provider_id = "i-" + std::to_string(id);
    record.idempotency_key = "key-" + std::to_string(id);
  }
  restored.last_instance = 50;
  Story many;
  many.begin(restored);
  many.pass(3min);
  for (std::uint64_t id = 1; id <= 50; ++id) {
    bare.push_back(many.seen({id}));
    bare.back().pool.clear();
  }
  many.clear();
  many.list(bare);
  EXPECT_THAT(many.all<TagsCall>(), SizeIs(10));
  many.list(bare);
  EXPECT_THAT(many.all<TagsCall>(), SizeIs(20));
}

}  // namespace
}  // namespace hostler::dispatch

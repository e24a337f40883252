#include "tests/unit/dispatch/story.h"

/// Creates and destroys: intents, lost replies, gates.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CreateTest : public testing::Test {
 protected:
  void SetUp() override { story.begin(); }

  /// Submits one job and gives the call that its host is asked for by.
  CreateCall wanted() {
    (void)story.submit({story.job(2)});
    const auto calls = story.all<CreateCall>();
    EXPECT_THAT(calls, SizeIs(1));
    return calls.back();
  }

  Story story;
};

TEST_F(CreateTest, TheWholeIntentIsJournalledWithTheCall) {
  story.plans_wait = true;
  (void)story.submit({story.job(2)});
  const Outbox out = story.dispatcher.apply(*story.plan, story.now);

  // Effects leave only when every change beside them is durable.
  ASSERT_THAT(out.effects, SizeIs(1));
  const auto& call = std::get<CreateCall>(out.effects[0]);
  std::vector<model::InstanceChanged> rows;
  for (const auto& change : out.changes)
    if (const auto* row = model::get_change<model::InstanceChanged>(change)) rows.push_back(*row);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].record.state, InstanceState::kRequested);
  EXPECT_EQ(rows[0].record.idempotency_key, call.request->idempotency_key);
  ASSERT_TRUE(rows[0].create);
  EXPECT_EQ(*rows[0].create, *call.request);
}

TEST_F(CreateTest, AfterALostReplyTheSameIsSentAgainByteForByte) {
  const auto first = wanted();
  story.clear();
  story.create_ended(first.instance, error(CloudErrorClass::kTimeout, true));
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty()) << "first it is looked for";

  story.pass(1s);
  story.list({});

  const auto again = story.all<CreateCall>();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].instance, first.instance);
  EXPECT_EQ(*again[0].request, *first.request);
}

TEST_F(CreateTest, AfterALostReplyAListFindsItByItsKey) {
  const auto first = wanted();
  story.create_ended(first.instance, error(CloudErrorClass::kTimeout, true));
  story.clear();

  story.list({story.seen(first.instance)});

  EXPECT_EQ(story.state(first.instance), InstanceState::kBooting);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  EXPECT_THAT(story.commands<model::ConnectHost>(), SizeIs(1));
}

TEST_F(CreateTest, AListThatIsOlderThanTheCreateProvesNothing) {
  const auto first = wanted();
  const Mono before = story.now.mono - 10s;
  story.create_ended(first.instance, error(CloudErrorClass::kTimeout, true));
  story.clear();
  story.say(SetListed{"west", before, model::ListedInstances{}});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
}

TEST_F(CreateTest, GivenUpItIsDestroyedOnSight) {
  const auto first = wanted();
  story.create_ended(first.instance, error(CloudErrorClass::kTimeout, true));
  story.pass(10min);
  ASSERT_EQ(story.state(first.instance), InstanceState::kAbandoned);
  story.clear();

  story.list({story.seen(first.instance)});

  const auto destroys = story.all<DestroyCall>();
  ASSERT_THAT(destroys, SizeIs(1));
  EXPECT_EQ(destroys[0].request.id, "i-1");
  EXPECT_EQ(destroys[0].request.expected_set_id, "west");
}

// Bug: it filled the ceilings for a day, though every list said that it was not there.
TEST_F(CreateTest, GivenUpItFillsNoCeilingOnceAListLacksItLongAfter) {
  auto site = small_site();
  site.ceilings.instances_max = 1;
  Story other(site);
  other.begin();
  (void)other.submit({other.job(2)});
  const auto first = other.all<CreateCall>().at(0);
  other.create_ended(first.instance, error(CloudErrorClass::kTimeout, true));
  other.pass(10min);
  ASSERT_EQ(other.state(first.instance), InstanceState::kAbandoned);
  other.clear();
  other.pass(1s);
  other.list({});
  EXPECT_THAT(other.all<CreateCall>(), IsEmpty()) << "it may still come";

  other.pass(10min);
  EXPECT_THAT(other.all<CreateCall>(), IsEmpty()) << "no list has said so";
  other.list({});
  other.pass(1s);

  EXPECT_THAT(other.all<CreateCall>(), SizeIs(1));
}

// Bug: the gate's short wait replaced the deadline of a create whose outcome was unknown, and it
// was abandoned a second later.
TEST_F(CreateTest, AShutGateDoesNotCutTheSearchForAnUnknownCreateShort) {
  const auto first = wanted();
  story.create_ended(first.instance, error(CloudErrorClass::kQuota, true));
  ASSERT_THAT(story.dispatcher.queries().gates(story.now.mono), SizeIs(1));
  story.clear();

  story.list({});
  story.pass(5s);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty()) << "the gate is shut";
  EXPECT_EQ(story.state(first.instance), InstanceState::kRequested);

  story.pass(2min);
  story.list({});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1)) << "and then it is tried again";
}

TEST_F(CreateTest, TheCreatesSecretsAreErasedOnceTheHostIsProved) {
  const auto first = wanted();
  story.clear();
  story.boot(first.instance);
  const auto rows = story.journalled<model::InstanceChanged>();
  EXPECT_THAT(rows, Contains(testing::Field(&model::InstanceChanged::erase_create, true)));
}

TEST_F(CreateTest, ACapacityErrorShutsItsTypeOnlyAndAnotherIsTaken) {
  const auto first = wanted();
  ASSERT_EQ(first.request->type.name, "small");
  story.clear();
  story.create_ended(first.instance, error(CloudErrorClass::kCapacity));

  EXPECT_THAT(story.journalled<model::GateChanged>(), SizeIs(1));
  const auto calls = story.all<CreateCall>();
  EXPECT_EQ(story.state(first.instance), InstanceState::kGone);
  // The other type costs more than price_factor_max allows: it is waited for, with the reason.
  EXPECT_THAT(calls, IsEmpty());
  EXPECT_THAT(story.dispatcher.queries().waiting(WorkId{1})->reason,
              testing::HasSubstr("the cloud says no"));
}

// Bug: it was asked for again ten times a second, and the job was told that a host was coming.
TEST_F(CreateTest, WhatIsRefusedForGoodIsNotAskedForAgainAndItsJobSaysWhy) {
  const auto first = wanted();
  story.clear();
  auto wrong = error(CloudErrorClass::kInvalid);
  wrong.message = "no image 'debain-12'";
  story.create_ended(first.instance, wrong);
  for (int n = 0; n < 100; ++n) story.pass(100ms);

  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  const auto waits = story.dispatcher.queries().waiting(WorkId{1});
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->code, model::WaitingCode::kGateShut);
  EXPECT_EQ(waits->reason, "small: no image 'debain-12'");

  story.say(PolicyChanged{small_site()});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1)) << "the settings may be right now";
  EXPECT_THAT(story.dispatcher.queries().gates(story.now.mono), IsEmpty());
}

TEST_F(CreateTest, AfterARestartTheSettingsMayBeRightToo) {
  const auto first = wanted();
  story.create_ended(first.instance, error(CloudErrorClass::kNotFound));
  const auto shut = story.journalled<model::GateChanged>();
  ASSERT_THAT(shut, SizeIs(1));

  Story next;
  model::Restored restored;
  restored.gates.push_back(shut[0].record);
  next.begin(std::move(restored));
  EXPECT_THAT(next.journalled<model::GateOpened>(), SizeIs(1));
  (void)next.submit({next.job(2)});
  EXPECT_THAT(next.all<CreateCall>(), SizeIs(1));
}

// Bug: the answer was asked for by the zone that the cloud had chosen, and the gate stayed
// half-open.
TEST_F(CreateTest, AGateOpensAgainWhereTheCloudChoseTheZone) {
  const auto first = wanted();
  story.create_ended(first.instance, error(CloudErrorClass::kCapacity));
  ASSERT_THAT(story.dispatcher.queries().gates(story.now.mono), SizeIs(1));
  story.clear();
  story.pass(10min);
  const auto second = story.all<CreateCall>().at(0);
  auto seen = story.seen(second.instance);
  seen.zone = "west-1";
  story.say(CreateSeen{second.instance, seen});
  story.create_ended(second.instance);

  EXPECT_THAT(story.dispatcher.queries().gates(story.now.mono), IsEmpty());
}

// Bug: they stayed in the journal's files for a month where the instance was never proved.
TEST_F(CreateTest, TheCreatesSecretsAreErasedOnceItIsRefused) {
  const auto first = wanted();
  story.clear();
  story.create_ended(first.instance, error(CloudErrorClass::kInvalid));
  const auto rows = story.journalled<model::InstanceChanged>();
  ASSERT_THAT(rows, Not(IsEmpty()));
  EXPECT_EQ(rows[0].record.id, first.instance);
  EXPECT_EQ(rows[0].record.state, InstanceState::kGone);
  EXPECT_TRUE(rows[0].erase_create);
}

TEST_F(CreateTest, NothingIsAskedOfASetThatIsNotOpen) {
  Story shut;
  shut.restore();
  (void)shut.submit({shut.job()});
  shut.pass(1min);
  EXPECT_THAT(shut.all<CreateCall>(), IsEmpty());

  shut.say(SetOpened{"west", tl::unexpected(error(CloudErrorClass::kAuth))});
  shut.clear();
  shut.pass(500ms);
  EXPECT_THAT(shut.all<OpenSet>(), IsEmpty()) << "it backs off";
  shut.pass(1min);
  EXPECT_THAT(shut.all<OpenSet>(), SizeIs(1));
  shut.say(SetOpened{"west", model::SetInfo{}});
  EXPECT_THAT(shut.all<CreateCall>(), SizeIs(1));
}

// Bug: the cloud had said how long to wait, and was asked again within a minute.
TEST_F(CreateTest, ASetIsOpenedAgainWhenTheCloudSays) {
  Story shut;
  shut.restore();
  auto slow = error(CloudErrorClass::kRateLimit);
  slow.retry_after = 10min;
  shut.say(SetOpened{"west", tl::unexpected(slow)});
  shut.clear();
  shut.pass(9min);
  EXPECT_THAT(shut.all<OpenSet>(), IsEmpty());
  shut.pass(1min);
  EXPECT_THAT(shut.all<OpenSet>(), SizeIs(1));
}

// Bug: everything went as user data, also where the driver says that it takes none.
TEST_F(CreateTest, NothingIsCreatedForAPoolWhoseHostsTheSetCannotSetUp) {
  model::SetInfo info;
  info.user_data = false;
  const auto creates = [&](const model::SitePolicy& site) {
    Story poor(site);
    poor.restore();
    poor.say(SetOpened{"west", info});
    (void)poor.submit({poor.job()});
    poor.pass(1min);
    const auto why = poor.dispatcher.queries().reasons_of_pool("default", poor.now);
    std::string text = why && !why->rejected.empty() ? why->rejected[0].reason : "";
    return std::pair(poor.all<CreateCall>().size(), text);
  };
  auto site = small_site();
  site.pools[0].verify = {model::VerifyMethod::kDelivered, model::VerifyMethod::kDriver};
  const auto [none, why] = creates(site);
  EXPECT_EQ(none, 0U);
  EXPECT_THAT(why, HasSubstr("takes no user data"));

  info.host_key_inject = true;
  EXPECT_EQ(creates(site).first, 1U) << "the driver places the host key";
  info.host_key_inject = false;
  info.has_host_key_extension = true;
  EXPECT_EQ(creates(site).first, 1U) << "the driver vouches for it";
  site.pools[0].init_command = "true";
  EXPECT_EQ(creates(site).first, 0U) << "it could not run";
  site.pools[0].init_command.clear();
  site.pools[0].boot_files = std::vector<model::BootFile>{{"/x", "", 0644, ""}};
  EXPECT_THAT(creates(site).second, HasSubstr("no boot_files there"));
}

// EC2 accepts a create, and the machine dies of a missing key or volume before it boots.
TEST_F(CreateTest, WhatDiedAfterItsCreateSaysOfWhatItDied) {
  const auto id = wanted().instance;
  story.create_ended(id);
  story.list({story.seen(id, model::CloudState::kPending)});
  ASSERT_EQ(story.state(id), InstanceState::kBooting);
  auto dead = story.seen(id, model::CloudState::kGone);
  dead.state_error = "Client.InternalError: the key of the volume is disabled";
  story.look_up = std::vector{dead};

  story.list({dead});
  story.list({dead});

  ASSERT_EQ(story.state(id), InstanceState::kVanished);
  EXPECT_THAT(story.record(id).reason,
              HasSubstr("the cloud says: Client.InternalError: the key of the volume is disabled"));
}

TEST_F(CreateTest, ADestroyIsRetriedUntilTheCloudAgrees) {
  const auto call = wanted();
  story.boot(call.instance);
  (void)story.ask(KillInstance{0, "user root", call.instance, "test"});
  for (int n = 1; n <= 3; ++n) {
    ASSERT_THAT(story.all<DestroyCall>(), SizeIs(n));
    story.say(DestroyEnded{call.instance, error(CloudErrorClass::kTransient)});
    story.list({story.seen(call.instance)});
    story.pass(5min);
  }
  EXPECT_EQ(story.state(call.instance), InstanceState::kTerminating);

  story.say(DestroyEnded{call.instance, {}});
  story.list({});
  EXPECT_EQ(story.state(call.instance), InstanceState::kTerminating);
  story.list({});
  EXPECT_EQ(story.state(call.instance), InstanceState::kGone);
}

// Bug: the answer to a destroy that came after the instance was seen gone was dropped, and with it
// the half-open gate's probe: nothing could be destroyed in that set any more.
TEST_F(CreateTest, ASlowDestroyDoesNotKeepItsGateHalfOpen) {
  const auto call = wanted();
  story.boot(call.instance);
  (void)story.ask(KillInstance{0, "user root", call.instance, "test"});
  auto limited = error(CloudErrorClass::kRateLimit);
  limited.scope = model::scope::kAccount | model::scope::kOperation;
  limited.retry_after = 30s;
  story.say(DestroyEnded{call.instance, limited});
  story.clear();
  story.pass(1min);
  ASSERT_THAT(story.all<DestroyCall>(), SizeIs(1)) << "the gate's probe";

  story.list({});
  story.list({});
  story.say(DestroyEnded{call.instance, {}});
  story.list({});
  story.list({});

  EXPECT_EQ(story.state(call.instance), InstanceState::kGone);
  EXPECT_THAT(story.dispatcher.queries().gates(story.now.mono), IsEmpty());
}

// Bug: the new host took over the id, and its destroy ended the other one's machine.
TEST(CreateAnswerTest, AnAnswerWithTheIdOfAnotherHostIsNotBelieved) {
  Story story;
  story.begin();
  const auto other = story.running().second;
  (void)story.submit({story.job(2)});
  const auto made = story.all<CreateCall>().back().instance;
  auto seen = story.seen(made);
  seen.id = story.record(other).provider_id;
  story.say(CreateSeen{made, seen});
  EXPECT_EQ(story.record(made).provider_id, "");
  EXPECT_THAT(story.ledger(), testing::Contains(made.text() + " create_unknown misbehaving"));
}

// Bug: a create that hung emitted its record after three destroys, and an alarm said that the cloud
// ignores them.
TEST(CreateAnswerTest, ARecordThatComesAfterTheDestroyIsNoSignThatTheCloudIgnoresIt) {
  Story story;
  story.begin();
  (void)story.submit({story.job(2)});
  const auto id = story.all<CreateCall>().back().instance;
  story.list({story.seen(id, model::CloudState::kPending)});
  EXPECT_TRUE(story.ask(KillInstance{0, "user root", {id}, ""}));
  for (int n = 0; n < 3; ++n) {
    story.say(DestroyEnded{id, {}});
    story.pass(1s);
  }
  const auto reported = testing::Contains(testing::HasSubstr("destroy_ignored"));
  story.say(CreateSeen{id, story.seen(id, model::CloudState::kPending)});
  EXPECT_THAT(story.ledger(), testing::Not(reported));
  story.list({story.seen(id, model::CloudState::kPending)});
  EXPECT_THAT(story.ledger(), reported) << "a list that was sent after them";
}

// Bug: its job waited for ever.
TEST(CreateAnswerTest, AnInstanceThatTheCloudNeverBeginsToMakeIsGivenUpAtItsBootTimeout) {
  Story story;
  story.begin();
  (void)story.submit({story.job(2)});
  const auto id = story.all<CreateCall>().back().instance;
  story.say(CreateSeen{id, story.seen(id, model::CloudState::kRequested)});
  story.create_ended(id);
  story.pass(10min);
  EXPECT_EQ(story.state(id), InstanceState::kTerminating);
}

}  // namespace
}  // namespace hostler::dispatch

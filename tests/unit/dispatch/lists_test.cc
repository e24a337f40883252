#include "tests/unit/dispatch/story.h"

/// What the cloud shows that the journal does not know, and whose it is.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

model::ListedInstance stranger(const std::string& key = "lost-key") {
  model::ListedInstance out;
  out.id = "i-900";
  out.idempotency_key = key;
  out.set_id = "west";
  out.owner = "us";
  out.address = "10.0.0.9";
  out.state = model::CloudState::kRunning;
  out.pool = "default";
  out.type = "small";
  out.idle = "run";
  return out;
}

TEST(StrangerTest, OneOfOursIsAdoptedAndGivenNoWork) {
  Story story;
  story.begin();
  story.list({stranger()});

  const auto instances = story.dispatcher.queries().instances();
  ASSERT_THAT(instances, SizeIs(1));
  EXPECT_EQ(instances[0].record.state, InstanceState::kUnknown);
  EXPECT_EQ(instances[0].record.type, "small");
  EXPECT_EQ(instances[0].record.state_since, instances[0].record.created);
  EXPECT_THAT(story.ledger(), Contains("h-1 adopted not_in_journal"));

  (void)story.submit({story.job()});
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
}

TEST(StrangerTest, GoesAtItsBootDeadlineUnlessHeld) {
  for (const bool held : {false, true}) {
    Story story;
    story.begin();
    auto seen = stranger();
    if (held) seen.idle = "hold";
    story.list({seen});
    story.pass(10min);
    EXPECT_EQ(story.state(InstanceId{1}),
              held ? InstanceState::kUnknown : InstanceState::kTerminating);
    EXPECT_THAT(story.all<DestroyCall>(), SizeIs(held ? 0 : 1));
  }
}

// Bug: without its key it was adopted anew by every list, and never destroyed.
TEST(StrangerTest, IsAdoptedOnceEvenIfItHasLostItsKey) {
  Story story;
  story.begin();
  for (int n = 0; n < 4; ++n) story.list({stranger("")});
  EXPECT_THAT(story.dispatcher.queries().instances(), SizeIs(1));

  story.pass(10min);
  EXPECT_EQ(story.state(InstanceId{1}), InstanceState::kTerminating);
  story.say(DestroyEnded{InstanceId{1}, {}});
  story.list({});
  story.list({});
  EXPECT_TRUE(story.dispatcher.queries().at_rest());
}

// Bug: jobs waited for it until its boot deadline.
TEST(StrangerTest, ThatWasDestroyedBeforeIsDestroyedAgainAndHoldsUpNoJob) {
  Story story;
  story.begin();
  const auto [job, on] = story.running();
  const auto old = story.seen(on);
  story.exited(on, job);
  ASSERT_TRUE(story.ask(KillInstance{0, "user root", on, "test"}));
  story.say(DestroyEnded{on, {}});
  story.list({});
  story.list({});
  ASSERT_TRUE(story.dispatcher.queries().at_rest());
  story.clear();

  story.list({old});

  const InstanceId again{on.value + 1};
  EXPECT_EQ(story.state(again), InstanceState::kTerminating);
  EXPECT_THAT(story.ledger(), Contains(again.text() + " terminating listed_after_end"));
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
  (void)story.submit({story.job()});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

/// A host and another machine that the cloud has made under its key.
class DoubleTest : public testing::Test {
 protected:
  void SetUp() override {
    story.begin();
    on = story.running().second;
    twin = story.seen(on);
    twin.id = "i-0";
    twin.address = "10.0.0.200";
  }
  /// Each of them in turn the last of the list.
  void list_both(int times) {
    for (int n = 0; n < times; ++n) {
      if (n % 2 == 0)
        story.list({story.seen(on), twin});
      else
        story.list({twin, story.seen(on)});
    }
  }

  Story story;
  InstanceId on;
  model::ListedInstance twin;
};

// Bug: both were taken for the host, whose link went from one to the other with each list; both
// were paid for as long as it lived.
TEST_F(DoubleTest, IsEndedAndTheHostGoesOn) {
  story.clear();
  list_both(4);

  EXPECT_THAT(story.commands<model::ConnectHost>(), IsEmpty());
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
  EXPECT_EQ(story.record(on).provider_id, "i-" + std::to_string(on.value));
  const InstanceId other{on.value + 1};
  EXPECT_THAT(story.ledger(), Contains(other.text() + " duplicate " + on.text()).Times(1));
  const auto destroys = story.all<DestroyCall>();
  ASSERT_THAT(destroys, SizeIs(1));
  EXPECT_EQ(destroys[0].instance, other);
  EXPECT_EQ(destroys[0].request.id, "i-0");
  EXPECT_EQ(destroys[0].request.expected_set_id, "west");

  story.say(DestroyEnded{other, {}});
  for (int n = 0; n < 2; ++n) story.list({story.seen(on)});
  EXPECT_EQ(story.state(other), InstanceState::kGone);
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
  EXPECT_THAT(story.dispatcher.queries().instances(), SizeIs(1));
}

TEST_F(DoubleTest, ListedTwiceIsEndedOnce) {
  for (int n = 0; n < 3; ++n) story.list({story.seen(on), twin, twin});
  EXPECT_THAT(story.dispatcher.queries().instances(), SizeIs(2));
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
}

TEST_F(DoubleTest, AndTheRequestThatItWasAreOneInstance) {
  story.clear();
  auto request = twin;
  request.id = "sir-1";
  request.state = model::CloudState::kRequested;
  request.address.clear();
  twin.request_id = "sir-1";
  for (int n = 0; n < 3; ++n) story.list({request, twin, story.seen(on)});
  EXPECT_EQ(story.record(on).provider_id, "i-" + std::to_string(on.value));
  EXPECT_THAT(story.dispatcher.queries().instances(), SizeIs(2));
  EXPECT_THAT(story.commands<model::ConnectHost>(), IsEmpty());
}

TEST_F(DoubleTest, IsKnownByTheRequestThatItWas) {
  auto request = twin;
  request.id = twin.request_id = "sir-1";
  story.list({story.seen(on), twin});
  for (int n = 0; n < 3; ++n) story.list({story.seen(on), request});
  EXPECT_THAT(story.dispatcher.queries().instances(), SizeIs(2));
}

TEST_F(DoubleTest, IsNotTakenForTheHostAfterARestart) {
  list_both(1);
  model::Restored restored;
  for (const auto id : {on, InstanceId{on.value + 1}})
    restored.instances.push_back({story.record(id), nullptr, false});
  restored.last_instance = on.value + 1;
  Story next;
  next.begin(std::move(restored));
  next.clear();
  for (int n = 0; n < 3; ++n) next.list({next.seen(on), twin});

  EXPECT_EQ(next.record(on).provider_id, "i-" + std::to_string(on.value));
  EXPECT_THAT(next.dispatcher.queries().instances(), SizeIs(2));
  EXPECT_THAT(next.commands<model::ConnectHost>(), IsEmpty());
}

TEST_F(DoubleTest, InALateAnswerIsLeftToTheNextList) {
  story.list({story.seen(on)});
  story.clear();
  story.say(CreateSeen{on, twin});
  story.pass(1s);
  EXPECT_THAT(story.commands<model::ConnectHost>(), IsEmpty());
  EXPECT_THAT(story.all<ListCall>(), SizeIs(1));
}

// Bug: shown after its machine, a request took the instance's id back each time, and was destroyed
// in its stead.
TEST_F(DoubleTest, ARequestSaysNothingBesideItsMachine) {
  auto machine = story.seen(on), request = machine;
  request.id = machine.request_id = "sir-1";
  request.state = model::CloudState::kRequested;
  request.address.clear();
  story.clear();
  for (int n = 0; n < 2; ++n) story.list({machine, request});
  story.say(CreateSeen{on, request});
  EXPECT_EQ(story.record(on).provider_id, machine.id);
  EXPECT_THAT(story.commands<model::ConnectHost>(), IsEmpty());

  story.list({request});
  EXPECT_EQ(story.record(on).provider_id, "sir-1") << "it waits for another machine";
}

TEST_F(DoubleTest, OfACreateWithoutAnAnswerTheFirstByIdIsTheHost) {
  (void)story.submit({story.job(2)});
  const auto asked = story.all<CreateCall>().back().instance;
  ASSERT_NE(asked, on);
  story.create_ended(asked, error(CloudErrorClass::kTimeout, true));
  auto b = story.seen(asked), a = b;
  a.id = "a-1", b.id = "b-1";
  story.list({story.seen(on), b, a});

  EXPECT_EQ(story.record(asked).provider_id, "a-1");
  EXPECT_EQ(story.state(asked), InstanceState::kBooting);
  EXPECT_EQ(story.all<DestroyCall>().at(0).request.id, "b-1");
}

TEST(ForeignTest, IsNeverTouchedAndStopsCreates) {
  Story story;
  story.begin();
  auto seen = stranger();
  seen.owner = "somebody else";
  story.list({seen});
  story.list({seen});
  EXPECT_THAT(story.ledger(), testing::Contains("set west foreign_owner").Times(1));
  story.clear();

  (void)story.submit({story.job()});
  story.pass(24h);

  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  EXPECT_THAT(story.dispatcher.queries().instances(), IsEmpty());
  ASSERT_TRUE(story.dispatcher.queries().sets()[0].foreign_owner);
  EXPECT_THAT(story.dispatcher.queries().sets()[0].problem, HasSubstr("--take-over-set west"));
  EXPECT_THAT(story.dispatcher.queries().waiting(WorkId{1})->reason,
              HasSubstr("belongs to another hostler"));

  story.list({});
  story.pass(10s);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1)) << "the foreigner has gone";
  EXPECT_THAT(story.ledger(), Contains("set west foreign_owner_left"));
}

TEST(ForeignTest, IsAdoptedWhenTheSetIsTakenOver) {
  Story story(small_site(), Options{.take_over_sets = {"west"}});
  story.begin();
  auto seen = stranger();
  seen.owner = "somebody else";
  story.list({seen});
  EXPECT_THAT(story.ledger(), Contains("h-1 adopted taken_over"));
}

TEST(ForeignTest, OfAnotherSetOrWithoutTagsIsNotOurs) {
  Story story;
  story.begin();
  auto other = stranger();
  other.set_id = "east";
  auto bare = stranger();
  bare.tags_unknown = true;
  story.list({other, bare});
  EXPECT_THAT(story.dispatcher.queries().instances(), IsEmpty());
  EXPECT_FALSE(story.dispatcher.queries().sets()[0].foreign_owner);
}

TEST(ListTest, AFailedListIsNoAbsence) {
  Story story;
  story.begin();
  const auto [id, on] = story.running();
  (void)id;
  for (int n = 0; n < 5; ++n) {
    const Mono sent = story.now.mono;
    story.pass(10s);
    story.say(SetListed{"west", sent, tl::unexpected(error(CloudErrorClass::kTransient))});
  }
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
  EXPECT_EQ(story.dispatcher.queries().sets()[0].problem, "the cloud says no");
}

TEST(ListTest, WhatTheCloudShowsAsGoneIsAbsent) {
  Story story;
  story.begin();
  const auto [id, on] = story.running();
  story.host(on, model::HostLost{"no route"});
  for (int n = 0; n < 2; ++n) story.list({story.seen(on, model::CloudState::kGone)});
  EXPECT_EQ(story.state(on), InstanceState::kVanished);
  EXPECT_EQ(story.record(id).reason, EndReason::kHostLost);
}

// Bug: listed without its tags, and so without its key, it counted as gone.
TEST(ListTest, WhatHasLostItsTagsIsThereAllTheSame) {
  Story story;
  story.begin();
  const auto [job, on] = story.running();
  auto seen = story.seen(on);
  seen.tags_unknown = true;
  seen.idempotency_key.clear();
  seen.set_id.clear();
  seen.owner.clear();
  for (int n = 0; n < 4; ++n) {
    story.list({seen});
    story.pass(1min);
  }
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
  EXPECT_EQ(story.record(job).state, WorkState::kRunning);
}

TEST(ListTest, IsAskedForAtItsIntervalByTheSetsTag) {
  auto site = small_site();
  site.sets[0].list_interval = 10s;
  Story story(site);
  story.begin();
  auto calls = story.all<ListCall>();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].request.tag_filter, (model::Tags{{"hostler-set", "west"}}));

  story.list({});
  story.clear();
  story.pass(9s);
  EXPECT_THAT(story.all<ListCall>(), IsEmpty());
  story.pass(1s);
  EXPECT_THAT(story.all<ListCall>(), SizeIs(1));
  story.pass(1h);
  EXPECT_THAT(story.all<ListCall>(), SizeIs(1)) << "one at a time";
}

// Bug: a set of a thousand was listed whole, five times a second, while its instances came up.
TEST(ListTest, ALargeSetIsNotListedForEachChangeOfAnInstance) {
  for (const int size : {1, 2000}) {
    Story story;
    story.begin();
    const auto on = story.running().second;
    std::vector<model::ListedInstance> all(static_cast<std::size_t>(size), story.seen(on));
    for (std::size_t i = 1; i < all.size(); ++i) {
      all[i].id = "i-other-" + std::to_string(i);
      all[i].set_id = "another set";
      all[i].idempotency_key = "another's " + all[i].id;
    }
    story.list(all);  // Answered a second after it was sent.
    story.clear();
    story.host(on, model::HostLost{"no route"});
    story.pass(200ms);
    EXPECT_THAT(story.all<ListCall>(), SizeIs(size == 1 ? 1 : 0));
    story.pass(5s);
    EXPECT_THAT(story.all<ListCall>(), SizeIs(1)) << size;
  }
}

// Bug: the price that the cloud told replaced the menu's only when the instance was gone, and each
// instance left the ceiling a little more room than there is.
TEST(PriceTest, TheCeilingCountsWhatTheCloudCharges) {
  auto site = small_site();
  site.ceilings.price_per_hour_max = {130};
  Story story(site);
  story.begin();
  const auto [id, on] = story.running();
  auto dear = story.seen(on);
  dear.price_per_hour = model::Micros{90};
  story.list({dear});
  story.clear();
  (void)story.submit({story.job(2)});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty()) << "90 and 60 pass the ceiling";

  story.look_up = std::vector{story.seen(on, model::CloudState::kGone)};
  story.host(on, model::HostLost{"no route"});
  story.list({});
  story.list({});
  ASSERT_EQ(story.state(on), InstanceState::kVanished);
  (void)story.submit({story.job(2), story.job(2), story.job(2)});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(2)) << "two of 60 fit, three do not";
  (void)id;
}

}  // namespace
}  // namespace hostler::dispatch

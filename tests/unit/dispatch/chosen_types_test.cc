#include "tests/unit/dispatch/offered.h"

/// What else depends on the types that pools choose: their names, their gates, the check of
/// submits.
namespace hostler::dispatch {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using ChosenTypesTest = OfferingsTest;

// Bug: each reload opened the boot gates of types that a pool had chosen.
TEST_F(ChosenTypesTest, AReloadThatChangesNothingOfItsHostsLeavesTheBootGateOfAChosenTypeShut) {
  auto site = choosing_site();
  site.pools[0].selector->provider_params_json = R"({"a":1})";
  story = Story(site);
  open();
  offer(std::vector{offering("a", 2, 60), offering("b", 8, 200)});
  for (int n = 0; n < 10 && story.dispatcher.queries().gates(story.now.mono).empty(); ++n) {
    story.clear();
    story.submit({story.job(2)});
    for (const auto& call : story.all<CreateCall>()) {
      auto seen = story.seen(call.instance);
      seen.state = model::CloudState::kFailed;
      story.say(CreateSeen{call.instance, seen});
      story.create_ended(call.instance);
    }
    story.pass(1s);
  }
  const auto gates = [&] { return story.dispatcher.queries().gates(story.now.mono).size(); };
  ASSERT_GT(gates(), 0U);
  site.pools[0].sizes.max = 11;
  story.say(PolicyChanged{site});
  EXPECT_GT(gates(), 0U);
  site.pools[0].selector->vcpus = {1, 4};  // It chooses other types.
  story.say(PolicyChanged{site});
  EXPECT_GT(gates(), 0U);
  site.pools[0].selector->provider_params_json = R"({"a":2})";
  story.say(PolicyChanged{site});
  EXPECT_EQ(gates(), 0U);
}

// Bug: all work was accepted, for ever, whatever it needed.
TEST_F(ChosenTypesTest, AChosenTypeHasASlotForEachOfItsGpus) {
  open();
  auto with_gpus = offering("p4d", 2, 60);
  with_gpus.resources.gpus = 8;
  offer(std::vector{with_gpus, offering("m5", 2, 60)});
  std::map<std::string, std::int32_t> slots;
  for (const auto& type : story.dispatcher.queries().policy().types)
    slots[type.provider_type] = type.resources.slots;
  EXPECT_EQ(slots, (std::map<std::string, std::int32_t>{{"p4d", 8}, {"m5", 0}}));
}

TEST_F(ChosenTypesTest, ASetThatNeverAnswersLetsWorkInForAQuarterOfAnHourOnly) {
  open();
  fail(CloudErrorClass::kAuth);
  EXPECT_THAT(story.submit({story.job(100)}), SizeIs(1));
  story.pass(16min);
  fail(CloudErrorClass::kAuth);
  const auto refused = story.ask(Submit{0, "user ann", {story.job(100)}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kUnavailable) << "it may be possible later";
  EXPECT_THAT(refused.error().message,
              HasSubstr("set west does not say which types it offers: the cloud says no"));
  story.pass(1h);
  offer(std::vector{offering("a", 2, 60)});
  const auto wrong = story.ask(Submit{0, "user ann", {story.job(100)}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Errc::kInvalidArgument);
  EXPECT_THAT(story.submit({story.job(2)}), SizeIs(1));
}

/// The site with a type of its own that is named like one that the pool has chosen.
model::SitePolicy site_that_takes_the_name() {
  auto site = choosing_site();
  site.types = {small_site().types[1]};
  site.types[0].name = "m5-large";
  return site;
}

// Bug: the host counted as one of the configured type, with four times its room.
TEST_F(ChosenTypesTest, WhereTheConfigurationTakesTheNameOfATypeItsHostsFollowTheType) {
  open();
  offer(std::vector{offering("m5.large", 2, 60)});
  const auto [job, host] = story.running();
  ASSERT_EQ(story.record(host).type, "m5-large");
  story.say(PolicyChanged{site_that_takes_the_name()});
  EXPECT_EQ(story.record(host).type, "m5-large-west");
  EXPECT_EQ(story.dispatcher.queries().instances().at(0).total.vcpus, 2);
  EXPECT_EQ(story.record(job).state, WorkState::kRunning);
  EXPECT_THAT(types(), UnorderedElementsAre("m5-large", "m5-large-west"));
}

TEST_F(ChosenTypesTest, HostsFollowTheirTypeAlsoWhenTheConfigurationChangesWhileTheDaemonIsDown) {
  story = Story(site_that_takes_the_name());
  story.restore(restored_with_a_host());
  EXPECT_EQ(story.record(InstanceId{7}).type, "m5-large-west");
  EXPECT_EQ(story.dispatcher.queries().instances().at(0).total.vcpus, 2);
}

// Bug: they stayed in the store for ever.
TEST_F(ChosenTypesTest, WhatASetOfferedThatIsRemovedIsForgotten) {
  model::Restored restored;
  restored.offered = {offered_row("removed")};
  story.restore(restored);
  const auto gone = story.journalled<model::OfferedGone>();
  ASSERT_THAT(gone, SizeIs(1));
  EXPECT_EQ(gone[0].set, "removed");
  EXPECT_EQ(gone[0].provider_type, "m5.large");
}

}  // namespace
}  // namespace hostler::dispatch

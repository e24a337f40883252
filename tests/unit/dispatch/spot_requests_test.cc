#include "tests/unit/dispatch/story.h"

/// A machine that a list shows as what the spot request of a host has become.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::SizeIs;

class SpotRequestsTest : public testing::Test {
 protected:
  void SetUp() override {
    story.begin();
    on = story.running().second;
    other = story.seen(on);
    other.id = "new-1";
    other.address = "10.0.0.200";
  }

  Story story;
  InstanceId on;
  model::ListedInstance other;
};

// Bug: the host became the other machine, and nobody saw its own in any later list.
TEST_F(SpotRequestsTest, AMachineThatIsListedIsNoRequestOfAnother) {
  const auto machine = story.record(on).provider_id;
  other.request_id = machine;
  for (const bool has_key : {false, true}) {
    auto shown = other;
    if (!has_key) shown.idempotency_key.clear();
    story.clear();
    for (int n = 0; n < 2; ++n) story.list({story.seen(on), shown});
    EXPECT_EQ(story.record(on).provider_id, machine);
    EXPECT_EQ(story.state(on), InstanceState::kBusy);
    EXPECT_THAT(story.dispatcher.queries().instances(), SizeIs(2)) << "both are judged";
    EXPECT_THAT(story.ledger(), Contains("set west list_flawed").Times(has_key ? 0 : 1))
        << "once an hour";
  }
}

TEST_F(SpotRequestsTest, AHostThatBootsDoesNotBecomeAMachineThatNamesIt) {
  (void)story.submit({story.job(2)});
  const auto boots = story.all<CreateCall>().back().instance;
  const auto machine = story.seen(boots);
  story.say(CreateSeen{boots, machine});
  ASSERT_EQ(story.state(boots), InstanceState::kBooting);
  other.request_id = machine.id;
  other.idempotency_key.clear();
  for (int n = 0; n < 2; ++n) story.list({other, story.seen(on), machine});
  EXPECT_EQ(story.record(boots).provider_id, machine.id);
}

// Bug: a request whose state the driver could not tell counted as a machine. Its own machine was
// ended as a second one, and bought again.
TEST_F(SpotRequestsTest, ARequestWhoseStateIsNotKnownIsHiddenByItsMachine) {
  (void)story.submit({story.job(2)});
  const auto boots = story.all<CreateCall>().back().instance;
  auto machine = story.seen(boots);
  auto request = machine;
  request.id = "request-1";
  request.address.clear();
  request.state = model::CloudState::kRequested;
  story.say(CreateSeen{boots, request});
  machine.id = "machine-1";
  machine.request_id = request.id;
  story.clear();
  for (const auto state : {model::CloudState::kUnknown, model::CloudState::kPending,
                           model::CloudState::kTerminating, model::CloudState::kFailed}) {
    request.state = state;
    story.list({story.seen(on), request, machine});
    EXPECT_EQ(story.record(boots).provider_id, machine.id);
  }
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(0));
}

// A host that has worked is no request, whatever the cloud calls it.
TEST_F(SpotRequestsTest, AHostThatWorksDoesNotBecomeAMachineThatNamesIt) {
  auto request = story.seen(on);
  other.request_id = request.id;
  other.idempotency_key.clear();
  for (const bool is_shown : {true, false}) {
    request.state = model::CloudState::kRequested;
    story.look_up = std::vector{other};
    if (is_shown)
      story.list({request, other});
    else
      story.list({other});
    EXPECT_EQ(story.record(on).provider_id, request.id) << is_shown;
  }
}

}  // namespace
}  // namespace hostler::dispatch

#include "tests/unit/dispatch/story.h"

/// Lists that say false things of hosts that are connected.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::SizeIs;

class FalseListTest : public testing::Test {
 protected:
  void SetUp() override {
    story.begin();
    for (int n = 0; n < 3; ++n) hosts.push_back(story.running().second);
    for (const auto id : hosts) listed.push_back(story.seen(id));
    story.clear();
  }
  void expect_that_all_goes_on() {
    for (const auto id : hosts) EXPECT_EQ(story.state(id), InstanceState::kBusy);
    EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  }

  Story story;
  std::vector<InstanceId> hosts;
  std::vector<model::ListedInstance> listed;
};

// Bug: hosts with the key of another one were destroyed as machines of its create.
TEST_F(FalseListTest, AnotherHostsKeyMakesNoDuplicate) {
  listed[0].idempotency_key = listed[2].idempotency_key = listed[1].idempotency_key;
  story.list(listed);
  expect_that_all_goes_on();
}

// Bug: it was destroyed as a duplicate of ours, again and again.
TEST_F(FalseListTest, AnInstanceOfAnotherSetWithAKeyOfOursIsLeftAlone) {
  auto other = listed[0];
  other.id = "i-900";
  other.set_id = "another";
  other.owner = "them";
  listed.push_back(other);
  story.list(listed);
  expect_that_all_goes_on();
}

// Bug: one list ended all of them.
TEST_F(FalseListTest, AConnectedHostThatIsListedAsFailedKeepsItsJobs) {
  for (auto& one : listed) one.state = model::CloudState::kFailed;
  story.list(listed);
  story.list(listed);
  expect_that_all_goes_on();
  EXPECT_THAT(story.ledger(), Contains("h-1 contradicted").Times(1));
  story.host(hosts[0], model::HostLost{"reset"});
  story.list(listed);
  EXPECT_EQ(story.state(hosts[0]), InstanceState::kTerminating);
}

// Bug: the connection was closed for the new address.
TEST_F(FalseListTest, AnotherAddressIsUsedOnceTheConnectionHasEnded) {
  listed[0].address = "10.0.0.99";
  story.list(listed);
  EXPECT_THAT(story.commands<model::ConnectHost>(), IsEmpty());
  story.host(hosts[0], model::HostLost{"reset"});
  const auto connects = story.commands<model::ConnectHost>();
  ASSERT_THAT(connects, SizeIs(1));
  EXPECT_EQ(connects[0].target.address, "10.0.0.99");
}

TEST(FlawedListTest, IsReportedOnceAnHour) {
  Story story;
  story.begin();
  model::ListedInstance other;
  other.id = "i-900";
  other.set_id = "another";
  other.state = model::CloudState::kRunning;
  for (int n = 0; n < 3; ++n) story.list({other, other});
  EXPECT_THAT(story.ledger(), Contains("set west list_flawed").Times(1));
  story.pass(1h);
  story.list({other});
  EXPECT_THAT(story.ledger(), Contains("set west list_flawed").Times(2));
}

}  // namespace
}  // namespace hostler::dispatch

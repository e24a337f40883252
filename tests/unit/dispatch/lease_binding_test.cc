#include "tests/unit/dispatch/leases.h"

/// Which host a lease gets, and what it says while it can have none. The plan chooses between hosts
/// (tests/unit/scheduler/whole_hosts_test.cc).
namespace hostler::dispatch {
namespace {

TEST_F(LeaseTest, ALeaseMovesToAnotherHostIfTheBootFails) {
  const WorkId id = story.borrow(story.lease());
  const InstanceId first = story.all<CreateCall>().back().instance;
  story.create_ended(first);
  for (int n = 0; n < 60 && story.all<CreateCall>().size() < 2; ++n) story.pass(1min);
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(2));
  EXPECT_EQ(story.lease_state(id), "waiting");

  const InstanceId second = story.all<CreateCall>().back().instance;
  story.boot(second);
  EXPECT_EQ(story.lease_state(id), "granted");
  EXPECT_EQ(story.record(id).instance, second);
  EXPECT_EQ(lease_on(first), std::nullopt);
}

TEST_F(LeaseTest, AHostThatIsRefusedIsNotWaitedFor) {
  const WorkId id = story.borrow(story.lease());
  story.create_ended(story.all<CreateCall>().back().instance, error(CloudErrorClass::kCapacity));
  const auto waits = story.dispatcher.queries().waiting(id);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->code, model::WaitingCode::kGateShut);
  EXPECT_THAT(waits->reason, HasSubstr("the cloud says no"));
}

TEST_F(LeaseTest, ALeaseThatCannotBeHadNowSaysWhy) {
  policy.pools[0].sizes.max = 1;
  reload();
  const InstanceId on = granted().second;
  const WorkId id = story.borrow(story.lease());
  const auto waits = story.dispatcher.queries().waiting(id);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->code, model::WaitingCode::kAtCeiling);
  EXPECT_THAT(waits->reason, HasSubstr("pool default is at its ceiling: max"));
  EXPECT_EQ(story.record(id).instance, InstanceId{}) << "and it has no part in " << on.text();
}

}  // namespace
}  // namespace hostler::dispatch

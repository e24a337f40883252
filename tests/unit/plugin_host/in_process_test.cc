// What holds only for a driver in this process: nobody can end its calls that hang.
#include <thread>

#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

using model::CloudErrorClass;
using ::testing::HasSubstr;

TEST(InProcessTest, AbandonsACallThatHangsAndMakesOthers) {
  ChaosSet set("hang", {.grace = 20ms});

  const auto created = set.create(10ms);
  const auto listed = set.list();
  const auto health = set->health();
  set.release();

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().cls, CloudErrorClass::kTimeout);
  EXPECT_TRUE(created.error().outcome_unknown);
  EXPECT_THAT(created.error().message, HasSubstr("create: R31: "));
  EXPECT_TRUE(listed) << "one hung call does not stop the others";
  EXPECT_EQ(health.hung_calls, 1U);
  EXPECT_FALSE(health.suspended);
}

TEST(InProcessTest, TwoHungCallsSuspendTheSetUntilOneReturns) {
  for (const char* word : {"hang", "hang_pending"}) {
    ChaosSet set(word, {.grace = 20ms});

    // On a busy machine a call may reach its deadline before it is sent: then it does not hang.
    while (set->health().hung_calls < 2) ASSERT_FALSE(set.create(10ms));
    const auto refused = set.list();
    const auto health = set->health();
    set.release();
    if (std::string(word) == "hang") {
      while (set->health().suspended) std::this_thread::yield();
      EXPECT_TRUE(set.list());
    }

    ASSERT_FALSE(refused) << word;
    EXPECT_THAT(refused.error().message, HasSubstr("suspended: 2 calls hang"));
    EXPECT_FALSE(refused.error().outcome_unknown) << "nothing was sent";
    EXPECT_TRUE(health.suspended);
  }
}

// Bug: the set waited for ever for the worker of the call, which had left.
TEST(InProcessTest, ASetEndsThoughAnAbandonedCallWentOnAsPending) {
  ChaosSet set("hang_then_pending", {.grace = 20ms});
  while (set->health().hung_calls < 1) ASSERT_FALSE(set.create(10ms));
  set.release();
}

TEST(InProcessTest, ASerialDriverIsNotAskedToCloseASetDuringACallOfAnother) {
  ChaosSet busy("block", {}, "fake_serial_driver"),
      closed("", {.close_max = 20ms}, "fake_serial_driver"), peak("peak", {}, "fake_serial_driver");
  Awaited<model::ListedInstance> created;
  std::promise<void> inside;
  busy->create(
      ChaosSet::request(), kPatience, [&](const auto&) { inside.set_value(); }, created.done());
  inside.get_future().wait();

  closed.close();
  busy.release();

  EXPECT_TRUE(created.get());
  const auto calls = peak.list();
  ASSERT_TRUE(calls);
  EXPECT_EQ(calls->at(0).created.us, 1) << "calls at once, at most";
}

TEST(InProcessTest, AnExceptionThatLeavesGetExtensionKeepsTheSetClosed) {
  ChaosSet set("throw_in_get_extension");

  ASSERT_FALSE(set.opened());
  EXPECT_THAT(set.opened().error().message, HasSubstr("R45: an exception left get_extension"));
}

}  // namespace
}  // namespace hostler::plugin_host

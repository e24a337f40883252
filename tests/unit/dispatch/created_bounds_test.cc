// Bounds of created hosts that are expressions, and sets that are closed.
#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/scaling_fixture.h"

namespace hostler::dispatch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class CreatedBoundsTest : public ScalingTest {
 protected:
  static model::SitePolicy site(const std::string& created) {
    auto out = web({});
    auto& pool = out.pools[0];
    pool.sizes.texts.created_min = pool.sizes.texts.created_max = created;
    return out;
  }
  /// A start that finds four hosts in this state, and no set is open yet.
  void start(model::SitePolicy policy, InstanceState state) {
    model::Restored rows;
    for (std::uint64_t n = 1; n <= 4; ++n) {
      auto& record = rows.instances.emplace_back(instance(state)).record;
      record.id = {n};
      record.provider_id = "i-" + std::to_string(n);
      record.idempotency_key = "key-" + std::to_string(n);
    }
    rows.last_instance = 4;
    story = Story(std::move(policy));
    story.restore(std::move(rows));
  }
  void open(const std::string& account = "ours") {
    model::SetInfo info;
    info.list_consistency = 100ms;
    info.stop = info.has_power = true;
    info.account_id = account;
    story.say(SetOpened{"west", info});
  }
  const scheduler::HostView& planned() const {
    return story.all<MakePlan>().back().snapshot->hosts.at(0);
  }
};

// Bug: they ended as soon as the set was open.
TEST_F(CreatedBoundsTest, HostsThatAreOffCountInTheFirstDecisionBeforeTheSetIsOpen) {
  auto policy = site("queue");
  policy.pools[0].scaling.up.window = 10min;
  start(policy, InstanceState::kStopped);
  read(4);
  ASSERT_EQ(pool().bounds.at(1).number, 4) << pool().bounds.at(1).unknown;
  open();
  story.pass(30s);
  EXPECT_EQ(pool().bounds.at(1).number, 4);
  EXPECT_THAT(ends(), IsEmpty());
  EXPECT_THAT(creates(), IsEmpty());
}

// Bug: `created` was too small while a set was closed.
TEST_F(CreatedBoundsTest, HostsThatAreOffCountWhileTheSetIsClosed) {
  start(site("created"), InstanceState::kStopped);
  open();
  EXPECT_EQ(pool().bounds.at(0).from, "created 4");
  open("another");
  story.pass(10s);
  EXPECT_EQ(pool().bounds.at(0).from, "created 4");
}

TEST_F(CreatedBoundsTest, BoundsAreEvaluatedAgainWhenASetHasOpened) {
  start(site("created + queue"), InstanceState::kStopped);
  read(0);
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "admin", InstanceId{1}, model::IdleBehavior::kHold}));
  story.clear();
  open();
  EXPECT_THAT(pool().bounds.at(0).from, HasSubstr("created 3, queue 0"))
      << "a held one is no standby";
}

// Bug: hosts that may be switched off were ended, as the set was not open yet.
TEST_F(CreatedBoundsTest, ThePlanKnowsThatItIsNotKnownWhichHostsCanBeSwitchedOff) {
  start(site("queue"), InstanceState::kIdle);
  ASSERT_FALSE(story.all<MakePlan>().empty());
  EXPECT_TRUE(planned().power_unknown);
  EXPECT_FALSE(planned().can_stop);
  open();
  EXPECT_FALSE(planned().power_unknown);
  EXPECT_TRUE(planned().can_stop);
  open("another");
  EXPECT_FALSE(planned().power_unknown) << "what its cloud said before is still true";
}

}  // namespace
}  // namespace hostler::dispatch

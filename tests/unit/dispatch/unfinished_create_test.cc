#include "tests/unit/dispatch/story.h"

/// Instances that their driver has begun to make, and has not finished.
namespace hostler::dispatch {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Bug: new instances took all creates that the ceiling allows, and the machine stayed half made.
TEST(UnfinishedCreateTest, ACreateThatIsToBeRepeatedComesBeforeNewOnes) {
  auto site = small_site();
  site.ceilings.creates_per_minute_max = 1;
  Story story(site);
  story.restore();
  model::SetInfo info;
  info.create_token_native = true;
  story.say(SetOpened{"west", info});
  (void)story.submit({story.job(8), story.job(8)});
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1));
  const auto first = story.all<CreateCall>().back().instance;
  story.say(CreateSeen{first, story.seen(first, model::CloudState::kPending)});
  story.create_ended(first, error(CloudErrorClass::kTimeout, true));
  story.clear();

  story.pass(2s);
  story.list({story.seen(first, model::CloudState::kPending)});
  story.pass(58s);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  story.list({story.seen(first, model::CloudState::kPending)});

  const auto calls = story.all<CreateCall>();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].instance, first);
}

}  // namespace
}  // namespace hostler::dispatch

#include <algorithm>

#include "tests/unit/dispatch/story.h"

namespace hostler::dispatch {
namespace {

/// There is an idle host, and the plan that starts thousands of jobs on it, which need nothing.
struct PlanSlicesTest : testing::Test {
  Story story;
  std::vector<WorkId> jobs;

  PlanSlicesTest() {
    story.begin();
    const auto [id, on] = story.running();
    story.exited(on, id);
    model::WorkItem tiny;
    tiny.shape.needs = {};
    tiny.shape.priority = 1;
    std::vector<model::WorkItem> all(2500, tiny);
    tiny.shape.priority = 0;
    all.resize(3500, tiny);
    story.plans_wait = true;
    jobs = story.submit(std::move(all));
  }
  static std::ptrdiff_t starts(const Outbox& out) {
    return std::ranges::count_if(out.changes, [](const model::Change& change) {
      return std::holds_alternative<model::AttemptChanged>(change);
    });
  }
  std::ptrdiff_t apply_first_slice() {
    return starts(story.dispatcher.apply(std::move(story.plan.value()), story.now));
  }
};

/// Thousands of starts take long: other events are handled between them.
TEST_F(PlanSlicesTest, APlanThatStartsMuchIsAppliedInSlices) {
  EXPECT_EQ(apply_first_slice(), 2500);
  EXPECT_LE(story.dispatcher.next_wake(), story.now.mono);
  (void)story.dispatcher.apply(CancelWork{0, "user ann", false, jobs.back()}, story.now);
  EXPECT_EQ(starts(story.dispatcher.tick(story.now)), 999);
  EXPECT_GT(story.dispatcher.next_wake(), story.now.mono);
}

TEST_F(PlanSlicesTest, APlanThatIsHalfAppliedEndsWithANewPolicy) {
  EXPECT_EQ(apply_first_slice(), 2500);
  (void)story.dispatcher.apply(PolicyChanged{small_site()}, story.now);
  EXPECT_EQ(starts(story.dispatcher.tick(story.now)), 0);
}

}  // namespace
}  // namespace hostler::dispatch

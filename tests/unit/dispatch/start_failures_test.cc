#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/story.h"

/// Jobs that hosts cannot start.
namespace hostler::dispatch {
namespace {

// Bug: it went from host to host for ever.
TEST(StartFailuresTest, AJobThatEveryHostRefusesFailsAlsoAcrossARestart) {
  auto site = busy_site();
  site.work[0].record.state = WorkState::kStarting;
  site.work[0].shape.start_failures_max = 3;
  site.work[0].record.refused_by = {"h-1", "h-2"};
  Story again;
  again.begin(std::move(site));
  again.host({7}, model::AttemptRefused{{{5}, 1}, "no space", true});
  EXPECT_EQ(again.record(WorkId{5}).state, WorkState::kFailed);
  EXPECT_EQ(again.record(WorkId{5}).reason, EndReason::kStartFailures);
  EXPECT_THAT(again.record(WorkId{5}).reason_text, testing::HasSubstr("no space"));
}

}  // namespace
}  // namespace hostler::dispatch

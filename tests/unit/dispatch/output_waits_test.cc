#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/story.h"

/// Hosts with output that is still to be fetched.
namespace hostler::dispatch {
namespace {

using model::AttemptPhase;
using testing::IsEmpty;
using testing::SizeIs;

// Bug: a host filled its disk with output, faster than it was fetched.
TEST(OutputWaitsTest, AHostWithMuchOutputToFetchGetsTheNextJobOnceThatIsHere) {
  Story story;
  story.begin();
  (void)story.submit({story.job(2), story.job(2)});
  const auto on = story.all<CreateCall>().at(0).instance;
  story.boot(on);
  const auto first = story.commands<model::StartAttempt>().at(0).attempt;
  story.clear();
  model::AttemptEnd end;
  end.output_is_inline = false;
  end.stdout_bytes = std::uint64_t{1} << 40;
  story.host(on, model::AttemptExited{first, end});
  story.pass(1s);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());

  story.host(on, model::AttemptCollected{first, ""});
  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
}

TEST(OutputWaitsTest, OutputThatARestartFindsToBeFetchedCountsToo) {
  auto site = busy_site();
  site.work = {job(WorkState::kCollecting, 1), job(WorkState::kQueued)};
  site.work[0].record.stdout_bytes = std::uint64_t{1} << 40;
  site.work[1].record.id = {6};
  site.work[1].arrival = 6;
  site.last_work = site.last_arrival = 6;
  site.attempts = {attempt(AttemptState::kEnded)};
  Story again;
  again.begin(std::move(site));
  again.ready({7}, {{{{5}, 1}, AttemptPhase::kEnded}});
  EXPECT_THAT(again.commands<model::StartAttempt>(), IsEmpty());
  again.host({7}, model::AttemptCollected{{{5}, 1}, ""});
  EXPECT_THAT(again.commands<model::StartAttempt>(), SizeIs(1));
}

}  // namespace
}  // namespace hostler::dispatch

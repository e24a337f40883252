#include "core/daemon/metrics_feed.h"

#include <gmock/gmock.h>

#include <chrono>

namespace hostler::daemon {
namespace {

using namespace std::chrono_literals;
using model::WorkState;
using testing::HasSubstr;
using testing::Not;

constexpr Now kNow{Mono(1h), Wall{1'000'000}};

model::WorkItem submitted(model::WorkId id) {
  model::WorkItem item;
  item.record.id = id;
  item.submitted = kNow.wall;
  return item;
}
model::WorkChanged ended(model::WorkId id) {
  model::WorkChanged change;
  change.record.id = id;
  change.record.state = WorkState::kSucceeded;
  change.record.reason = model::EndReason::kReturned;
  return change;
}

TEST(MetricsFeedTest, ALeaseIsNoJob) {
  constexpr model::WorkId kJob{1}, kLease{2, model::WorkKind::kLease};
  metrics::Metrics metrics;
  MetricsFeed feed(metrics);

  feed.count({submitted(kJob), submitted(kLease), model::LeaseChanged{}, ended(kLease)}, kNow);

  EXPECT_THAT(metrics.text(), HasSubstr("\nhostler_jobs_submitted_total 1\n"));
  EXPECT_THAT(metrics.text(), Not(HasSubstr("\nhostler_jobs_ended_total{")));
}

TEST(MetricsFeedTest, AGangIsCountedOnce) {
  metrics::Metrics metrics;
  MetricsFeed feed(metrics);

  feed.count_gangs({.granted = 2, .let_go = 1, .refused = 0});
  feed.count_gangs({.granted = 3, .let_go = 1, .refused = 4});

  EXPECT_THAT(metrics.text(), HasSubstr(R"(hostler_gangs_total{result="granted"} 3)"
                                        "\n"));
  EXPECT_THAT(metrics.text(), HasSubstr(R"(hostler_gangs_total{result="let_go"} 1)"
                                        "\n"));
  EXPECT_THAT(metrics.text(), HasSubstr(R"(hostler_gangs_total{result="refused"} 4)"
                                        "\n"));
}

}  // namespace
}  // namespace hostler::daemon

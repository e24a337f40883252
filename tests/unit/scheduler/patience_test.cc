#include "core/scheduler/patience.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using model::Market;

struct PatienceTest : testing::Test {
  Site site;
  [[nodiscard]] Duration next() const {
    const Mono end = next_patience_end(site.snapshot, site.policy);
    return end == Mono::max() ? Duration::max() : end - site.snapshot.now;
  }
};

TEST_F(PatienceTest, IsOfWorkThatMayBeSpot) {
  site.pool().spot_shortage_patience = 7s;
  site.type("steady", 2, 4, 100);
  site.jobs(1, 1, 1, 0, 5s);
  EXPECT_EQ(next(), Duration::max()) << "there is no spot";
  site.type("spot", 2, 4, 50, Market::kSpot);
  EXPECT_EQ(next(), 2s);
  site.snapshot.classes[0].oldest = site.snapshot.now - 7s;
  EXPECT_EQ(next(), site.pool().spot_patience - 7s) << "not one that has ended";
  site.constraints(0).market = Market::kSpot;
  EXPECT_EQ(next(), Duration::max());
}

TEST_F(PatienceTest, IsOfSpotRequests) {
  const auto spot = site.type("spot", 2, 4, 50, Market::kSpot);
  HostView& host = site.host(1, spot, HostPhase::kComing);
  host.created = site.snapshot.now - 1min;
  EXPECT_EQ(next(), Duration::max());
  host.unfulfilled_spot = true;
  EXPECT_EQ(next(), site.pool().spot_patience - 1min);
}

}  // namespace
}  // namespace hostler::scheduler

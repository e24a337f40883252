#include "sdk/check/host/limited_set.h"

#include <gmock/gmock.h>

#include <utility>

#include "sdk/check/host/rate_limit.h"
#include "tests/unit/tap/fake_set.h"

namespace hostler::check {
namespace {

using model::CloudErrorClass;
using testing::HasSubstr;

class LimitedSetTest : public testing::Test {
 protected:
  /// How a list ends that is refused once by the rate.
  std::optional<CloudErrorClass> list_refused(Duration retry_after) {
    auto refusal = tap::FakeSet::error(CloudErrorClass::kRateLimit, "too many requests");
    refusal.retry_after = retry_after;
    auto cloud = std::make_unique<tap::FakeSet>();
    cloud->fail_next = refusal;
    std::optional<CloudErrorClass> end;
    keep_rate(std::move(cloud), context_)
        ->list({}, std::chrono::seconds(1), [&](const auto& listed) {
          if (!listed) end = listed.error().cls;
        });
    return end;
  }

  Options options_;
  Settings settings_;
  Findings findings_;
  const std::atomic<bool> stops_{false};
  Context context_{options_, settings_, findings_, Random(1), {}, stops_};
};

TEST_F(LimitedSetTest, MakesNoMoreCallsInASecondThanTheSettingsAllow) {
  settings_.rate = 10;
  const auto set = keep_rate(std::make_unique<tap::FakeSet>(), context_);
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) set->list({}, std::chrono::seconds(1), [](const auto&) {});
  EXPECT_GE(std::chrono::steady_clock::now() - began, 3 * std::chrono::milliseconds(100));
}

TEST_F(LimitedSetTest, MakesARefusedCallAgainWhenTheCloudAllowsIt) {
  EXPECT_EQ(list_refused(std::chrono::milliseconds(20)), std::nullopt);
  EXPECT_GT(findings_.waited(), Duration{});
  EXPECT_TRUE(findings_.all().empty());
}

TEST_F(LimitedSetTest, NamesTheRateWhereTheCloudAsksForTooLong) {
  EXPECT_EQ(list_refused(std::chrono::hours(1)), CloudErrorClass::kRateLimit);
  ASSERT_EQ(findings_.all().size(), 1U);
  EXPECT_EQ(findings_.all()[0].kind, Finding::Kind::kFail);
  EXPECT_EQ(findings_.all()[0].rule, "refused");
  EXPECT_THAT(findings_.all()[0].text, HasSubstr("set `rate`"));
}

TEST_F(LimitedSetTest, SkipsATestThatADeclaredRateExplains) {
  settings_.rate = 1000;
  EXPECT_EQ(list_refused(std::chrono::hours(1)), CloudErrorClass::kRateLimit);
  ASSERT_EQ(findings_.all().size(), 1U);
  EXPECT_EQ(findings_.all()[0].kind, Finding::Kind::kSkip);
  EXPECT_EQ(findings_.all()[0].rule, kNoRoom);
}

TEST_F(LimitedSetTest, PassesOnTheRefusalThatATestLooksFor) {
  RateLimit::get().want_refusals(true);
  EXPECT_EQ(list_refused(std::chrono::milliseconds(20)), CloudErrorClass::kRateLimit);
  RateLimit::get().want_refusals(false);
  EXPECT_TRUE(findings_.all().empty());
}

}  // namespace
}  // namespace hostler::check

#include "core/api/tls.h"

#include <gmock/gmock.h>

#include <chrono>

namespace hostler::api {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(ExpiryTest, IsAnnouncedTwoWeeksBeforeAndNotEarlier) {
  const Wall end{1'800'000'000'000'000};
  const auto told = [&](Duration before) {
    return expiry_problem(end, end + -before).value_or("nothing");
  };
  EXPECT_EQ(told(15 * 24h), "nothing");
  EXPECT_EQ(told(14 * 24h + 1s), "nothing");
  EXPECT_THAT(told(14 * 24h), HasSubstr("expires in 14 days (at 2027-01-15"));
  EXPECT_THAT(told(49h), HasSubstr("expires in 2 days"));
  EXPECT_THAT(told(47h), HasSubstr("expires in 47 hours"));
  EXPECT_THAT(told(1s), HasSubstr("expires in 0 hours"));
  EXPECT_THAT(told(0s), HasSubstr("expired at 2027-01-15"));
  EXPECT_THAT(told(-1000 * 24h), HasSubstr("clients refuse it"));
}

}  // namespace
}  // namespace hostler::api

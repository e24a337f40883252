// What the process of a driver sends by itself is taken within limits.
#include "core/driver_host/parent/unasked_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::driver_host {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr SteadyTime kBegin{1h};

// Bug: frames of log that the driver wrote to the socket itself made 17 MB of log a second.
TEST(UnaskedFramesTest, LinesAboveALimitAreLeftOutAndTheNextOneSaysHowMany) {
  UnaskedFrames unasked;
  std::size_t passed = 0;
  for (int line = 0; line < 100'000; ++line)
    if (!unasked.add_line("again", kBegin).empty()) ++passed;
  EXPECT_EQ(passed, 250U);
  EXPECT_EQ(unasked.add_line("more", kBegin + 999ms), "");
  EXPECT_EQ(unasked.add_line("then", kBegin + 1s), "then (99751 lines before it were left out)");
  EXPECT_EQ(unasked.add_line("last", kBegin + 1s), "last");
}

TEST(UnaskedFramesTest, AFloodIsNamedOnceAMinuteAndWaitsForTheNextSecond) {
  UnaskedFrames unasked;
  for (int pong = 0; pong < 999; ++pong) unasked.add(kBegin);
  EXPECT_EQ(unasked.waits_until(kBegin), std::nullopt);
  EXPECT_EQ(unasked.flood(kBegin), "");
  unasked.add(kBegin);
  EXPECT_EQ(unasked.waits_until(kBegin), kBegin + 1s);
  EXPECT_THAT(unasked.flood(kBegin), AllOf(StartsWith("R44: "), HasSubstr("1000 so far")));
  EXPECT_EQ(unasked.flood(kBegin), "");
  EXPECT_EQ(unasked.waits_until(kBegin + 1s), std::nullopt);
}

}  // namespace
}  // namespace hostler::driver_host

// What a driver writes to its standard output goes to the log, within limits.
#include "core/driver_host/parent/output_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::driver_host {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr SteadyTime kNow{1h};

TEST(OutputLinesTest, GivesLinesOnceTheyAreWholeAndFitToPrint) {
  OutputLines output;

  EXPECT_THAT(output.add("half", kNow), IsEmpty());
  EXPECT_THAT(output.add(" a line\n\nbell\a\n", kNow), ElementsAre("half a line", "bell\\u0007"));
  EXPECT_EQ(output.last(), "half a line; bell\\u0007");
}

TEST(OutputLinesTest, AFloodIsCutAndTheNextLineSaysByHowMuch) {
  OutputLines output;
  std::string flood;
  for (int line = 0; line < 1000; ++line) flood += "again\n";

  EXPECT_THAT(output.add(flood, kNow), SizeIs(50));
  EXPECT_THAT(output.add("more\n", kNow + 999ms), IsEmpty());
  EXPECT_THAT(output.add("then\nlast\n", kNow + 1s),
              ElementsAre("then (951 lines before it were left out)", "last"));
  EXPECT_EQ(output.last(), "again; again; more; then; last") << "the last ones are kept anyway";
}

}  // namespace
}  // namespace hostler::driver_host

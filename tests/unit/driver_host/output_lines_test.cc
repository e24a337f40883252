// What a driver writes to its standard output goes to the log, within limits.
#include "core/driver_host/parent/output_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::driver_host {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;
using ::testing::StartsWith;

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

TEST(OutputLinesTest, AFloodWithoutAnEndOfLineIsOneLineThatIsNamedAndWaits) {
  OutputLines output;
  const std::string block(std::size_t{64} << 10U, 'x');

  EXPECT_THAT(output.add(block, kNow), ElementsAre(SizeIs(AllOf(Ge(4096U), Le(4100U)))));
  EXPECT_EQ(output.waits_until(kNow), std::nullopt) << "64 KiB are no flood";
  EXPECT_EQ(output.flood(kNow), "");
  for (int i = 0; i < 3; ++i) EXPECT_THAT(output.add(block, kNow), IsEmpty());
  EXPECT_EQ(output.waits_until(kNow), kNow + 1s);
  EXPECT_THAT(output.flood(kNow), AllOf(StartsWith("R41: "), HasSubstr("256 KiB so far")));
  EXPECT_EQ(output.flood(kNow), "") << "it is said once a minute";
  EXPECT_EQ(output.waits_until(kNow + 1s), std::nullopt);
  EXPECT_THAT(output.add("\nnext\n", kNow + 1s), ElementsAre("next"));
}

}  // namespace
}  // namespace hostler::driver_host

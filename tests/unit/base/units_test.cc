#include "core/base/units.h"

#include <gmock/gmock.h>

#include "core/base/random.h"
#include "core/base/text.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(UnitsTest, ReadsNumbersWithUnits) {
  EXPECT_EQ(parse_duration("250ms"), Duration(250ms));
  EXPECT_EQ(parse_duration("1.5h"), Duration(90min));
  EXPECT_EQ(parse_size("1.5GiB"), 1610612736);
  EXPECT_EQ(parse_size("2TB"), 2'000'000'000'000);
}

TEST(UnitsTest, RefusesWhatHasNoUnitOrIsNoNumber) {
  for (const char* text : {"", "10", "-1s", "1 s", "nan s", "inf", "1e3s", "s", "10y", "1s "}) {
    const auto read = parse_duration(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr("units: ns us ms s m h d")) << text;
  }
  EXPECT_FALSE(parse_size("99999999TiB"));
}

TEST(UnitsTest, QuotesWhatItRefusesFitToPrint) {
  const auto refused = parse_size("7\n" + std::string(37, 'x') + "\xc3\xa4\xc3\xa4");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(is_utf8(refused.error().message));
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
}

TEST(UnitsTest, ExactTextReadsBackEqual) {
  EXPECT_EQ(exact_duration(90s), "90s");
  EXPECT_EQ(exact_duration(2h), "2h");
  EXPECT_EQ(exact_duration(0s), "0s");
  EXPECT_EQ(exact_size(1536 << 20), "1536MiB");
  EXPECT_EQ(exact_size(10'000'000'000), "9765625KiB");

  Random random(1);
  for (int round = 0; round < 10'000; ++round) {
    const auto value = static_cast<std::int64_t>(random.next() >> (11 + random.below(50)));
    EXPECT_EQ(parse_duration(exact_duration(Duration(value))), Duration(value));
    EXPECT_EQ(parse_size(exact_size(value)), value);
  }
}

TEST(UnitsTest, ShowsWallTimeInUtc) {
  EXPECT_EQ(format_wall({1'795'342'504'000'123}), "2026-11-22T10:15:04Z");
  EXPECT_EQ(exact_wall({1'795'342'504'000'123}), "2026-11-22T10:15:04.000123Z");
  EXPECT_EQ(format_wall({}), "-");
}

TEST(UnitsTest, ReadsWallTimesAndDays) {
  EXPECT_EQ(parse_wall("2026-11-22T10:15:04Z"), Wall{1'795'342'504'000'000});
  EXPECT_EQ(parse_wall("2026-11-22T10:15:04.000123Z"), Wall{1'795'342'504'000'123});
  EXPECT_EQ(parse_wall("2026-11-22"), Wall{1'795'305'600'000'000});
  EXPECT_EQ(parse_wall("2024-02-29"), Wall{1'709'164'800'000'000});
  EXPECT_EQ(parse_wall("1970-01-01"), Wall{});
}

// Bug: 31 February was taken for 3 March, and a bill went further than it said.
TEST(UnitsTest, RefusesWhatIsNoTime) {
  for (const char* text : {"", "yesterday", "2026-02-31", "2026-02-29", "2026-13-01", "2026-11-22T",
                           "2026-11-22T10:15:04", "2026-11-22T24:15:04Z", "2026-11-22 10:15:04Z",
                           "2026-11-22Z", "1969-12-31", "26-11-22"})
    EXPECT_FALSE(parse_wall(text)) << text;
}

}  // namespace
}  // namespace hostler

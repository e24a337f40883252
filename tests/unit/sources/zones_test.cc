#include "core/sources/zones.h"

#include <gtest/gtest.h>

#include "core/base/units.h"

namespace hostler::sources {
namespace {

Wall wall(const char* text) { return parse_wall(text).value(); }

TEST(ZonesTest, KnowsTheZonesOfTheSystem) {
  for (const char* zone : {"UTC", "Europe/Berlin", "Etc/GMT+5", "America/Argentina/Ushuaia"})
    EXPECT_TRUE(check_zone(zone)) << zone;
}

TEST(ZonesTest, RefusesWhatIsNoZone) {
  for (const char* zone :
       {"", "Europe/Atlantis", "../../etc/passwd", "/etc/localtime", "Europe/../UTC", "Europe/",
        "europe/berlin ", "Europe\n", "posix:Europe/Berlin", "Europe"}) {
    const auto checked = check_zone(zone);
    ASSERT_FALSE(checked) << zone;
    EXPECT_EQ(checked.error().code, Errc::kNotFound) << zone;
  }
  EXPECT_FALSE(check_zone(std::string(5000, 'A')));
  EXPECT_FALSE(check_zone(std::string("UTC\0x", 5)));
}

TEST(ZonesTest, SaysEachChangeOfTheOffset) {
  const auto times = zone_times("Europe/Berlin", wall("2026-02-01"), wall("2026-12-01")).value();
  EXPECT_EQ(times.zone, "Europe/Berlin");
  EXPECT_EQ(times.offsets, (std::vector<model::ZoneOffset>{{wall("2026-02-01"), 3600},
                                                           {wall("2026-03-29T01:00:00Z"), 7200},
                                                           {wall("2026-10-25T01:00:00Z"), 3600}}));
}

TEST(ZonesTest, AZoneWithoutChangesHasOneOffset) {
  const auto times = zone_times("Asia/Kolkata", wall("2026-01-01"), wall("2030-01-01")).value();
  EXPECT_EQ(times.offsets, (std::vector<model::ZoneOffset>{{wall("2026-01-01"), 19'800}}));
  EXPECT_EQ(zone_times("UTC", wall("2026-01-01"), wall("2025-01-01")).value().offsets.size(), 1U);
}

TEST(ZonesTest, ASpanWithoutAnEndIsCut) {
  const auto times = zone_times("Europe/Berlin", wall("2026-01-01"), Wall{INT64_MAX}).value();
  EXPECT_LT(times.offsets.size(), 30U);
}

}  // namespace
}  // namespace hostler::sources

#include <gmock/gmock.h>

#include "core/config/expressions.h"
#include "tests/unit/config/metrics_site.h"

namespace hostler::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

/// `m` is one number, `by_host` one for each instance.
const std::string kMetrics =
    R"({"name": "m", "source": {"hostler": {"count": "queued"}}},
       {"name": "by_host", "source": {"prometheus": {"url": "http://a", "query": "q", "by": "i"}}})";

std::vector<std::string> scaling_problems(const std::string& members) {
  return site_problems(site_with(kMetrics, members));
}
model::PoolPolicy good_pool(const std::string& members) {
  return good_site(site_with(kMetrics, members)).site.pools.at(0);
}

TEST(ScalingTest, EachBoundIsANumberOrAText) {
  model::PoolSizes sizes =
      good_pool(R"("min": 1, "max": 9, "created_min": 2, "created_max": 3)").sizes;
  EXPECT_EQ(sizes, (model::PoolSizes{.min = 1,
                                     .max = 9,
                                     .standby = 0,
                                     .stopped = 0,
                                     .created_min = 2,
                                     .created_max = 3,
                                     .texts = {}}));
  sizes = good_pool(R"("min": "m", "max": "m + 1", "created_min": "2", "created_max": "by_host")")
              .sizes;
  EXPECT_EQ(sizes.texts, (model::BoundTexts{"m", "m + 1", "2", "by_host"}));
  EXPECT_EQ(sizes.created_min, std::nullopt);
  EXPECT_EQ(good_pool("\"min\": 1").sizes.created_max, std::nullopt);
}

TEST(ScalingTest, RefusesABoundOfAnotherKind) {
  for (const std::string key : {"min", "max", "created_min", "created_max"}) {
    for (const std::string bad : {"true", "null", "[1]", "{}"})
      EXPECT_THAT(scaling_problems("\"" + key + "\": " + bad),
                  ElementsAre(AllOf(HasSubstr("pools[0]." + key + ": found "),
                                    HasSubstr("or a text, which is an expression"))))
          << bad;
    for (const std::string bad : {"-1", "1.5", "1000001"})
      EXPECT_THAT(scaling_problems("\"" + key + "\": " + bad),
                  ElementsAre(HasSubstr("pools[0]." + key + ": found " + bad)));
    EXPECT_THAT(scaling_problems("\"" + key + "\": \"\""),
                ElementsAre(HasSubstr("pools[0]." + key + ": found \"\"")));
    EXPECT_THAT(scaling_problems("\"" + key + "\": \"" + std::string(8193, '1') + "\""),
                ElementsAre(HasSubstr("pools[0]." + key + ": found a string of 8193 bytes")));
  }
}

// F-W4: bounds that contradict each other are found before anything is started.
TEST(ScalingTest, NumbersMayNotContradictEachOther) {
  EXPECT_THAT(scaling_problems(R"("created_min": 3, "created_max": 2)"),
              ElementsAre(HasSubstr("pools[0].created_min: created_min 3 is above created_max 2")));
  EXPECT_THAT(scaling_problems(R"("min": 3, "created_max": 2)"),
              ElementsAre(HasSubstr("pools[0].min: min 3 is above created_max 2")));
  EXPECT_THAT(scaling_problems(R"("standby": 3, "created_max": 2)"),
              ElementsAre(HasSubstr("pools[0].standby: standby 3 is above created_max 2")));
  EXPECT_THAT(scaling_problems(R"("min": 200, "max": "m")"), IsEmpty()) << "max is not 100 then";
  EXPECT_THAT(scaling_problems(R"("created_min": 30, "max": 2)"), IsEmpty())
      << "the others are off";
}

TEST(ScalingTest, HostsThatServeWhatMetricsCountNeedNoAgent) {
  EXPECT_THAT(scaling_problems(R"("readiness": "ssh", "min": "m")"), IsEmpty());
  EXPECT_THAT(scaling_problems(R"("readiness": "ssh", "min": 1)"),
              ElementsAre(HasSubstr("or with a bound that is an expression")));
}

TEST(ScalingTest, CreatedBoundsSayWhatIsSwitchedOff) {
  for (const std::string key : {"created_min", "created_max"})
    EXPECT_THAT(
        scaling_problems("\"stopped\": 1, \"" + key + "\": 5"),
        ElementsAre(HasSubstr("pools[0].stopped: it is not allowed together with created_min")));
}

TEST(ScalingTest, AnExpressionIsCompiledAndItsErrorShowsThePlace) {
  const auto problems = scaling_problems(R"x("min": "1 + (nope * 2)")x");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0], HasSubstr("pools[0].min: "));
  EXPECT_THAT(problems[0], HasSubstr("nope"));
  const auto caret = problems[0].rfind('\n');
  ASSERT_NE(caret, std::string::npos) << problems[0];
  EXPECT_THAT(problems[0].substr(caret), HasSubstr("^"));
  EXPECT_THAT(problems[0].substr(0, problems[0].find('\n')), HasSubstr(" (at 7:67)"))
      << problems[0];
  for (const std::string bad : {"m >", "m > 1", "'x'", "m[0]", "foo(m)", "m; m"})
    EXPECT_THAT(scaling_problems("\"max\": \"" + bad + "\""),
                ElementsAre(HasSubstr("pools[0].max: ")))
        << bad;
}

TEST(ScalingTest, AnExpressionThatAlwaysFailsIsFoundBeforeItIsUsed) {
  for (const std::string text : {"sum(0..100000000)", "len(1..1000000000)", "7 % 0"}) {
    const auto problems = scaling_problems("\"min\": \"" + text + "\"");
    ASSERT_EQ(problems.size(), 1U) << text;
    EXPECT_THAT(problems[0], AllOf(HasSubstr("pools[0].min: "), HasSubstr("^")));
  }
  for (const std::string text : {"1 / 0", "0 / 0", "2.0 ** 4000"})
    EXPECT_THAT(scaling_problems("\"min\": \"" + text + "\""),
                ElementsAre(HasSubstr("pools[0].min: its result is always infinite or NaN")))
        << text;
  EXPECT_THAT(scaling_problems(R"x("min": "sum(1..3)")x"), IsEmpty());
}

TEST(ScalingTest, AnExpressionNeedsAFixedLimitBesidesMax) {
  const auto problems = [](const std::string& pool, const std::string& set,
                           const std::string& site) {
    return site_problems(R"({
      "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
      "sets": [{"name": "s", "driver": "local")" +
                         set + R"(}, {"name": "r", "driver": "local"}],
      "pools": [{"name": "p", "sets": ["s"], "types": ["t"], "min": "1")" +
                         pool + R"(},
                {"name": "q", "sets": ["r"], "types": ["t"]}])" +
                         site + "}");
  };
  const std::string limit = R"(, "ceilings": {"instances_max": 5})";
  EXPECT_THAT(problems("", "", ""),
              ElementsAre(HasSubstr("pools[0].min: an expression needs a fixed limit")));
  EXPECT_THAT(problems(limit, "", ""), IsEmpty());
  EXPECT_THAT(problems("", limit, ""), IsEmpty());
  EXPECT_THAT(problems("", "", limit), IsEmpty());
  EXPECT_THAT(site_problems(R"({
      "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
      "sets": [{"name": "s", "driver": "local", "ceilings": {"instances_max": 5}},
               {"name": "r", "driver": "local"}],
      "pools": [{"name": "p", "sets": ["s", "r"], "types": ["t"], "created_max": "1"}]})"),
              ElementsAre(HasSubstr("of all its sets")));
}

TEST(ScalingTest, ATimeZoneOfAnExpressionExists) {
  EXPECT_THAT(scaling_problems(R"x("min": "hour(\"UTC\") + weekday(\"UTC\")")x"), IsEmpty());
  EXPECT_THAT(scaling_problems(R"x("min": "hour(\"Mars/Olympus\")")x"),
              ElementsAre(AllOf(HasSubstr("pools[0].min: "), HasSubstr("Mars/Olympus"))));
}

TEST(ScalingTest, ATimeOfAnAverageHasAReadingAndAnEnd) {
  EXPECT_THAT(scaling_problems(R"x("min": "avg_over(m, \"15s\") + avg_over(m, \"7d\")")x"),
              IsEmpty());
  for (const std::string bad : {"14s", "8d"})
    EXPECT_THAT(scaling_problems(R"x("min": "max_over(m, \")x" + bad + R"x(\")")x"),
                ElementsAre(HasSubstr("pools[0].min: found a time of " + bad)));
}

TEST(ScalingTest, ReadsEveryKey) {
  const model::ScalingPolicy scaling = good_pool(R"("min": "m", "max": 50, "scaling": {
    "up": {"window": "1s", "policies": [{"hosts": 4, "per": "1m"}, {"percent": 150, "per": "2m"}],
           "tolerance": 0.2},
    "down": {"window": "0s", "policies": [], "tolerance": 0.1},
    "lifetime_min": "6m", "rank": "by_host",
    "drain": {"command": ["/opt/x", "y"], "quiet": "by_host == 0", "timeout": "7s"}})")
                                           .scaling;
  EXPECT_EQ(scaling.up, (model::ScalingRules{.window = 1s,
                                             .policies = {{4, false, 1min}, {150, true, 2min}},
                                             .tolerance = 0.2}));
  EXPECT_EQ(scaling.down, (model::ScalingRules{.window = 0s, .policies = {}, .tolerance = 0.1}));
  EXPECT_EQ(scaling.lifetime_min, 6min);
  EXPECT_EQ(scaling.rank, "by_host");
  EXPECT_EQ(scaling.drain, (model::DrainPolicy{{"/opt/x", "y"}, "by_host == 0", 7s}));
  EXPECT_EQ(good_pool(R"("min": "m", "max": 1, "scaling": {})").scaling, model::ScalingPolicy{});
}

TEST(ScalingTest, RefusesRulesThatNobodyCanFollow) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {R"("up": {"window": "61m"})", "up.window: "},
      {R"("down": {"window": "-1s"})", "down.window: "},
      {R"("up": {"tolerance": 1})", "up.tolerance: "},
      {R"("up": {"tolerance": -0.1})", "up.tolerance: "},
      {R"("up": {"policies": [{"hosts": 1}]})", "up.policies[0].per: missing"},
      {R"("up": {"policies": [{"hosts": 0, "per": "1m"}]})", "up.policies[0].hosts: found 0"},
      {R"("up": {"policies": [{"percent": 0, "per": "1m"}]})", "up.policies[0].percent: found 0"},
      {R"("up": {"policies": [{"percent": -5, "per": "1m"}]})", "up.policies[0].percent: "},
      {R"("up": {"policies": [{"hosts": 1, "percent": 1, "per": "1m"}]})", "up.policies[0]: "},
      {R"("up": {"policies": [{"per": "1m"}]})", "up.policies[0]: "},
      {R"("up": {"policies": [{"hosts": 1, "per": "31m"}]})", "up.policies[0].per: "},
      {R"("up": {"policies": [{"hosts": 1, "per": "999ms"}]})", "up.policies[0].per: "},
      {R"("up": 3)", "up: found 3, allowed: an object"},
      {R"("sideways": {})", "sideways: unknown key"},
      {R"("lifetime_min": "31d")", "lifetime_min: "},
      {R"("rank": "nope")", "rank: found \"nope\", which is not a configured metric"},
      {R"("rank": "m")", "rank: metric \"m\" is one number for all hosts"},
      {R"("drain": {})", "drain: it needs command"},
      {R"("drain": {"command": ["x"]})", "drain.command: it must begin with the absolute path"},
      {R"("drain": {"command": []})", "drain.command: it must begin with the absolute path"},
      {R"("drain": {"quiet": ""})", "drain.quiet: "},
      {R"("drain": {"quiet": "m"})", "drain.quiet: "},
      {R"("drain": {"quiet": "nope == 0"})", "drain.quiet: "},
      {R"("drain": {"quiet": "m == 0", "timeout": "0s"})", "drain.timeout: "}};
  for (const auto& [members, problem] : bad)
    EXPECT_THAT(scaling_problems(R"("min": "m", "max": 9, "scaling": {)" + members + "}"),
                ElementsAre(HasSubstr("pools[0].scaling." + problem)))
        << members;
  std::string many;
  for (int i = 0; i < 11; ++i)
    many += (i == 0 ? "" : ",") + std::string(R"({"hosts":1,"per":"1m"})");
  EXPECT_THAT(scaling_problems(R"("scaling": {"up": {"policies": [)" + many + "]}}"),
              ElementsAre(HasSubstr("pools[0].scaling.up.policies: found an array of 11")));
}

TEST(ScalingTest, WarnsOfRulesWithoutEffect) {
  const auto warnings = [](const std::string& members) {
    return read_site(site_with("", members)).warnings;
  };
  EXPECT_THAT(warnings(R"("min": "2")"), ElementsAre(HasSubstr("never has more than 100 hosts")));
  EXPECT_THAT(warnings(R"("min": "2", "max": 100)"), IsEmpty());
  EXPECT_THAT(warnings(R"("min": "2", "ceilings": {"instances_max": 100})"), IsEmpty())
      << "the ceiling ends it, and not the default of max";
  EXPECT_THAT(warnings(R"("scaling": {"down": {"window": "1m"}})"),
              ElementsAre(HasSubstr("no bound that is an expression")));
  EXPECT_THAT(warnings(R"("scaling": {"lifetime_min": "1m"})"), IsEmpty());
  EXPECT_THAT(warnings(R"("created_min": 2000, "created_max": 2000, "max": 0)"),
              ElementsAre(HasSubstr("ceilings.instances_max: 1000 is less than the 2000")));
}

TEST(ScalingTest, WarnsOfHostsThatAreKeptForEver) {
  const auto warnings = [](const std::string& members) {
    return read_site(site_with("", members)).warnings;
  };
  for (const std::string kept : {R"("created_min": 2)", R"("created_min": "2")"})
    EXPECT_THAT(
        warnings(kept),
        ElementsAre("pools: \"p\" has created_min and no created_max, so hosts are switched "
                    "off and never destroyed"))
        << kept;
  EXPECT_THAT(warnings(R"("created_min": 2, "created_max": "3")"), IsEmpty());
  EXPECT_THAT(warnings(R"("created_max": 3)"), IsEmpty());
}

TEST(ScalingTest, TellsWhatItsExpressionsNeedFromOutside) {
  const ExpressionNeeds needs = needs_of(
      good_site(site_with(kMetrics, R"x("min": "hour(\"UTC\") + avg_over(m, \"2m\")", "max": 9,
          "created_max": "max_over(by_host, \"9m\")", "scaling": {"drain":
          {"quiet": "weekday(\"Europe/Berlin\") > 5 and hour(\"UTC\") > 1"}})x"))
          .site);
  EXPECT_THAT(needs.zones, ElementsAre("Europe/Berlin", "UTC"));
  EXPECT_EQ(needs.window, 9min);
  EXPECT_THAT(needs_of({}).zones, IsEmpty());
}

TEST(ScalingTest, APoolWhoseMaxIsAnExpressionMayHaveAsManyHostsAsItsCeilingAllows) {
  const auto most = [](const std::string& members) {
    return hosts_max_of(good_site(site_with("", members)).site);
  };
  EXPECT_EQ(most("\"max\": 7"), 7);
  EXPECT_EQ(most("\"max\": \"7\""), 1000) << "the site's";
  EXPECT_EQ(most(R"("max": "7", "ceilings": {"instances_max": 30})"), 30);
}

}  // namespace
}  // namespace hostler::config

#include <gmock/gmock.h>

#include "core/cli/commands.h"
#include "core/cli/eval_cases.h"
#include "core/cli/eval_result.h"
#include "core/config/load.h"
#include "core/json/document.h"
#include "tests/temp_folder.h"

namespace hostler::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kSite = R"({
  "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
  "sets": [{"name": "s", "driver": "local"}],
  "ceilings": {"instances_max": 40},
  "metrics": [{"name": "depth", "source": {"file": {"path": "depth.json", "pointer": "/n"}}},
              {"name": "rps", "source": {"prometheus": {"url": "http://127.0.0.1:9", "query": "q"}}},
              {"name": "open", "source": {"prometheus":
                {"url": "http://127.0.0.1:9", "query": "q", "by": "host"}}},
              {"name": "waiting", "source": {"hostler": {"count": "queued"}}}],
  "pools": [
    {"name": "web", "sets": ["s"], "types": ["t"], "min": "depth / 10", "max": 20},
    {"name": "day", "sets": ["s"], "types": ["t"], "min": "hour(\"UTC\") in 8..17 ? 5 : 0", "max": 9},
    {"name": "own", "sets": ["s"], "types": ["t"], "min": "waiting + idle", "max": 9},
    {"name": "fixed", "sets": ["s"], "types": ["t"], "min": 1}]})";

struct Ran {
  int status = 0;
  std::string out, errors;
};

class EvalTest : public testing::Test {
 protected:
  EvalTest() { options.config = folder.put("site.json", kSite, 0600); }
  Ran run() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Ran ran{.status = eval(options), .out = {}, .errors = {}};
    ran.out = testing::internal::GetCapturedStdout();
    ran.errors = testing::internal::GetCapturedStderr();
    return ran;
  }
  Ran run_pool(const std::string& pool, std::vector<std::string> set = {}) {
    options.pool = pool;
    options.set = std::move(set);
    return run();
  }
  Ran run_expr(const std::string& text, std::vector<std::string> set = {}) {
    options.pool = options.config = "";
    options.expr = text;
    options.set = std::move(set);
    return run();
  }
  Ran run_cases(const std::string& pool, const std::string& cases) {
    options.test = folder.put("cases.json", cases, 0600);
    return run_pool(pool);
  }

  test::TempFolder folder;
  EvalOptions options;
};

TEST_F(EvalTest, ReadsWhatThePoolNeedsAndShowsWhatCameOfIt) {
  folder.put("depth.json", R"({"n": 125})", 0600);
  const Ran ran = run_pool("web");
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("depth"), HasSubstr("125"), HasSubstr("old")));
  EXPECT_THAT(ran.out, HasSubstr("depth / 10 = 12.5"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("min +13 "));
  EXPECT_THAT(ran.out, testing::ContainsRegex("max +20 +as configured"));
}

TEST_F(EvalTest, AnUnknownMetricIsNamedAndTheStatusTells) {
  const Ran ran = run_pool("web");
  EXPECT_EQ(ran.status, exit_code::kFailed);
  EXPECT_THAT(ran.out, testing::ContainsRegex("min +unknown"));
  EXPECT_THAT(ran.out, HasSubstr("depth.json"));
}

TEST_F(EvalTest, GivenNumbersTakeThePlaceOfReadings) {
  Ran ran = run_pool("web", {"depth=44"});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("= 4.4"), HasSubstr("given")));
  EXPECT_THAT(ran.out, Not(HasSubstr("old")));
  ran = run_pool("web", {"depth=1e9"});
  EXPECT_THAT(ran.out, HasSubstr("ceiling"));
  ran = run_pool("own", {"waiting=2"});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("not given, and so taken as 0: idle"));
  ran = run_pool("own");
  EXPECT_EQ(ran.status, exit_code::kFailed);
  EXPECT_THAT(ran.out, HasSubstr("--set waiting=N"));
}

TEST_F(EvalTest, TheTimeMayBeGiven) {
  options.at = "2026-11-30T09:00:00Z";
  EXPECT_THAT(run_pool("day").out, testing::ContainsRegex("min +5 "));
  options.at = "0";
  EXPECT_THAT(run_pool("day").out, testing::ContainsRegex("min +0 "));
  EXPECT_THAT(run_pool("web").out, HasSubstr("unknown")) << "a file has no past";
}

TEST_F(EvalTest, PrintsJson) {
  options.json = true;
  const Ran ran = run_pool("web", {"depth=44"});
  const auto read = json::Document::parse(ran.out);
  ASSERT_TRUE(read) << ran.out;
  EXPECT_EQ(read->root().at("pool").text(), "web");
  EXPECT_TRUE(read->root().at("known").bool_or(false));
  const json::Value bound = *read->root().at("bounds").children().begin();
  EXPECT_EQ(bound.at("bound").text(), "min");
  EXPECT_EQ(bound.at("number").int_or(0), 4);
  EXPECT_EQ(bound.at("expression").text(), "depth / 10");
  EXPECT_EQ(bound.at("computed").text(), "4.4");
}

TEST_F(EvalTest, AnExpressionNeedsNoConfiguration) {
  Ran ran = run_expr("-2 ** 2");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("= -4"));
  EXPECT_THAT(run_expr("a + b", {"a=1", "b=2.5"}).out, HasSubstr("= 3.5"));
  EXPECT_EQ(run_expr("0 / 0").status, exit_code::kFailed);
  EXPECT_THAT(run_expr("5 % int(a)", {"a=0"}).out,
              testing::ContainsRegex("remainder by zero [(]1:3[)] [(]a 0[)]\n"));
  ran = run_expr("1 +* 2");
  EXPECT_EQ(ran.status, exit_code::kUsage);
  EXPECT_THAT(ran.errors, HasSubstr("^"));
}

// A condition is about one host: `quiet` of a pool could not be tried.
TEST_F(EvalTest, AnExpressionOverMetricsOfHostsIsTriedWithGivenNumbers) {
  const std::string config = options.config;
  const auto quiet = [&](std::vector<std::string> set) {
    options.config = config;
    options.expr = "open == 0";
    options.set = std::move(set);
    return run();
  };
  Ran ran = quiet({"open=1"});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, testing::ContainsRegex("result +0 +open == 0 = 0"));
  EXPECT_THAT(quiet({"open=0"}).out, testing::ContainsRegex("result +1 "));
  ran = quiet({});
  EXPECT_EQ(ran.status, exit_code::kFailed);
  EXPECT_THAT(ran.out, HasSubstr("it has one value for each host: give it with --set open=N"));
}

TEST_F(EvalTest, SaysWhichOfTwoBoundsWins) {
  EXPECT_THAT(run_pool("web", {"depth=250"}).out,
              HasSubstr("note: min 25 is above max 20: max wins\n"));
  EXPECT_THAT(run_pool("web", {"depth=200"}).out, Not(HasSubstr("wins")));
}

TEST_F(EvalTest, AsksOnlyForTheCountsThatTheBoundsGoBy) {
  EXPECT_THAT(run_pool("web", {"depth=1"}).out,
              AllOf(HasSubstr("--set started=N says"), Not(HasSubstr("created=N"))));
}

TEST_F(EvalTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(run_pool("nope").status, exit_code::kNotFound);
  EXPECT_THAT(run_pool("web", {"deepth=1"}).errors, HasSubstr("'deepth' is no metric"));
  for (const std::string bad : {"depth", "depth=", "=1", "depth=x", "depth=1x", "depth= 1"})
    EXPECT_THAT(run_pool("web", {bad}).errors, HasSubstr("NAME=NUMBER")) << bad;
  EXPECT_THAT(run_pool("web", {"depth=1", "depth=2"}).errors, HasSubstr("given twice"));
  for (const std::string bad : {"idle=-1", "idle=1.5", "idle=nan", "idle=1e10"})
    EXPECT_THAT(run_pool("own", {bad}).errors, HasSubstr("whole number")) << bad;
  for (const std::string bad : {"noon", "-5", "2026-13-01T00:00:00Z", "999999999999999"}) {
    options.at = bad;
    EXPECT_THAT(run_pool("web", {"depth=1"}).errors, HasSubstr("is no time")) << bad;
  }
  options.at = "";
  options.config = (folder / "none.json").string();
  EXPECT_EQ(run_pool("web").status, exit_code::kNotFound);
}

TEST_F(EvalTest, CasesSayWhatBoundsMustBe) {
  const std::string good = R"([
    {"name": "busy", "set": {"depth": 95}, "expect": {"min": 10, "max": 20}},
    {"name": "gone", "set": {"depth": null}, "expect": {"min": "unknown"}},
    {"expect": {"min": "unknown"}}])";
  Ran ran = run_cases("web", good);
  EXPECT_EQ(ran.status, 0) << ran.out << ran.errors;
  EXPECT_EQ(ran.out, "3 of 3 cases are as expected\n");
  ran = run_cases("web", R"([{"name": "few", "set": {"depth": 5}, "expect": {"min": 2}},
    {"name": "created", "set": {"depth": 5}, "expect": {"created_min": 2, "min": 1}}])");
  EXPECT_EQ(ran.status, exit_code::kFailed);
  EXPECT_THAT(ran.out, HasSubstr("few: min is 1, expected 2\n"));
  EXPECT_THAT(ran.out, HasSubstr("created: created_min is not set in the pool, expected 2\n"));
  EXPECT_THAT(ran.out, HasSubstr("0 of 2"));
  ran = run_cases("day", R"([{"at": "2026-11-30T17:59:59Z", "expect": {"min": 5}},
                             {"at": 0, "expect": {"min": 0}}])");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.errors;
}

TEST_F(EvalTest, RefusesCasesThatSayNothing) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"{}", "allowed: an array"},
      {"[1]", "allowed: an object"},
      {"[{}]", "[0].expect: missing"},
      {R"([{"expect": {}}])", "[0].expect: it must say something"},
      {R"([{"expect": {"min": "x"}}])", "[0].expect.min: "},
      {R"([{"expect": {"min": 1.5}}])", "[0].expect.min: "},
      {R"([{"expect": {"standby": 1}}])", "[0].expect.standby: unknown key"},
      {R"([{"set": {"depth": "1"}, "expect": {"min": 1}}])", "[0].set.depth: "},
      {R"([{"set": {"depth": 1e16}, "expect": {"min": 1}}])", "to 1000000000000000 (at"},
      {R"([{"set": {"deep": 1}, "expect": {"min": 1}}])", "case 1: 'deep' is no metric"},
      {R"([{"at": "soon", "expect": {"min": 1}}])", "[0].at: 'soon' is no time"},
      {"[", "not JSON"}};
  for (const auto& [cases, problem] : bad) {
    const Ran ran = run_cases("web", cases);
    EXPECT_NE(ran.status, 0) << cases;
    EXPECT_THAT(ran.errors, AllOf(HasSubstr("cases.json"), HasSubstr(problem))) << cases;
  }
  EXPECT_THAT(run_cases("day", R"([{"expect": {"min": 5}}])").errors, HasSubstr("needs `at`"));
}

}  // namespace
}  // namespace hostler::cli

#include <gmock/gmock.h>

#include <set>

#include "tests/unit/config/metrics_site.h"

namespace hostler::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace std::chrono_literals;

/// A metric that nothing is wrong with but for `members`, in front of which there is a comma.
std::string metric(const std::string& members) { return R"({"name": "m")" + members + "}"; }
std::string sourced(const std::string& members) {
  return metric(R"(, "source": {"hostler": {"count": "queued"}})" + members);
}
std::string from(const std::string& source) { return metric(R"(, "source": {)" + source + "}"); }
std::string prometheus(const std::string& members) {
  return from(R"("prometheus": {"url": "http://127.0.0.1:9090", )" + members + "}");
}

std::vector<std::string> metric_problems(const std::string& metrics) {
  return site_problems(site_with(metrics, "\"min\": 1"));
}

TEST(MetricsTest, ReadsEveryKeyOfAMetricAndOfPrometheus) {
  const Config config = good_site(site_with(
      R"x({"name": "m", "interval": "30s", "timeout": "7s", "valid": {"min": -1.5, "max": 9},
          "max_step": 4, "max_age": "2m", "on_failure": {"last": "3m"}, "source": {"prometheus":
          {"url": "https://p.example/base", "query": "sum(q)", "pick": "max",
           "age_of": "q{a=\"}\"}", "token_file": "secret"}}},
         {"name": "n", "on_failure": {"value": 2.5}, "source": {"prometheus":
          {"url": "http://[::1]:9090", "query": "q", "by": "pool"}}})x",
      R"("min": "m + n")"));
  model::MetricPolicy m{.name = "m",
                        .interval = 30s,
                        .valid_min = -1.5,
                        .valid_max = 9,
                        .max_step = 4,
                        .max_age = 2min,
                        .on_failure = model::OnFailure::kLast,
                        .last_for = 3min,
                        .value = 0,
                        .by = {},
                        .source = source_id(config.metric_sources.at(0))};
  model::MetricPolicy n{.name = "n",
                        .interval = 15s,
                        .valid_min = {},
                        .valid_max = {},
                        .max_step = {},
                        .max_age = {},
                        .on_failure = model::OnFailure::kValue,
                        .last_for = {},
                        .value = 2.5,
                        .by = "pool",
                        .source = source_id(config.metric_sources.at(1))};
  EXPECT_EQ(config.site.metrics, (std::vector{m, n}));
  ASSERT_EQ(config.metric_sources.size(), 2U);
  const model::MetricSource& source = config.metric_sources[0];
  EXPECT_EQ(source.name, "m");
  EXPECT_EQ(source.kind, model::MetricSource::Kind::kPrometheus);
  EXPECT_EQ(source.interval, 30s);
  EXPECT_EQ(source.timeout, 7s);
  EXPECT_EQ(source.url, "https://p.example/base");
  EXPECT_EQ(source.token_file, "/etc/hostler/secret");
  EXPECT_EQ(source.query, "sum(q)");
  EXPECT_EQ(source.pick, model::Pick::kMax);
  EXPECT_EQ(source.age_of, "q{a=\"}\"}");
  EXPECT_TRUE(source.asks_age);
  EXPECT_EQ(config.metric_sources[1].by, "pool");
  EXPECT_FALSE(config.metric_sources[1].asks_age);
}

// Whether what was read before a reload is still of the metric.
TEST(MetricsTest, AMetricIsOfAnotherSourceIfOtherNumbersMayCome) {
  const auto source_of = [](const std::string& members) {
    return good_site(site_with(metric(members), R"("min": "m")")).site.metrics.at(0).source;
  };
  const std::string query = R"(, "source": {"prometheus": {"url": "http://127.0.0.1:9090", )";
  std::set<std::uint64_t> all;
  for (const std::string& one :
       {query + R"("query": "a"}})", query + R"("query": "b"}})",
        query + R"("query": "a", "pick": "max"}})", query + R"("query": "a", "by": "pool"}})",
        std::string(
            R"(, "source": {"prometheus": {"url": "http://127.0.0.1:9091", "query": "a"}})"),
        std::string(R"(, "source": {"http": {"url": "http://127.0.0.1/x", "pointer": "/a"}})"),
        std::string(R"(, "source": {"http": {"url": "http://127.0.0.1/x", "pointer": "/b"}})"),
        std::string(R"(, "source": {"file": {"path": "/x"}})"),
        std::string(R"(, "source": {"exec": {"command": ["/x"]}})"),
        std::string(R"(, "source": {"exec": {"command": ["/x", "y"]}})"),
        std::string(R"(, "source": {"hostler": {"count": "idle"}})"),
        std::string(R"(, "source": {"hostler": {"count": "busy"}})")})
    EXPECT_TRUE(all.insert(source_of(one)).second) << one;
  EXPECT_EQ(source_of(query + R"("query": "a"}})"),
            source_of(R"(, "interval": "7s", "max_age": "1m", "valid": {"min": 0})" + query +
                      R"("query": "a"}})"));
}

TEST(MetricsTest, ReadsEveryOtherSource) {
  const Config config = good_site(site_with(
      R"({"name": "a", "source": {"http": {"url": "http://10.0.0.1:80/x?y", "pointer": "/a~1/0"}}},
         {"name": "b", "source": {"file": {"path": "len", "pointer": ""}}},
         {"name": "c", "source": {"exec": {"command": ["/opt/x", "${config_dir}"], "pointer": "/v"}}},
         {"name": "d", "source": {"hostler": {"count": "busy", "pool": "p"}}})",
      R"("min": "a + b + c + d")"));
  const auto& sources = config.metric_sources;
  ASSERT_EQ(sources.size(), 4U);
  EXPECT_EQ(sources[0].url, "http://10.0.0.1:80/x?y");
  EXPECT_EQ(sources[0].pointer, "/a~1/0");
  EXPECT_EQ(sources[1].file, "/etc/hostler/len");
  EXPECT_THAT(sources[2].command, ElementsAre("/opt/x", "/etc/hostler"));
  EXPECT_EQ(sources[2].pointer, "/v");
  EXPECT_EQ(sources[3].own, (model::OwnCount{model::Counted::kBusy, "p"}));
  EXPECT_EQ(config.site.metrics[3].own, (model::OwnCount{model::Counted::kBusy, "p"}));
  EXPECT_EQ(config.site.metrics[0].own, std::nullopt);
}

TEST(MetricsTest, ANameIsAnIdentifierThatTheLanguageDoesNotHave) {
  EXPECT_THAT(metric_problems(sourced("")), IsEmpty());
  for (const std::string bad : {"", "1a", "a-b", "a.b", "a b", "é", "a\\u0000"})
    EXPECT_THAT(
        metric_problems(R"({"name": ")" + bad + R"(", "source": {"hostler": {"count": "busy"}}})"),
        ElementsAre(HasSubstr("metrics[0].name: ")))
        << bad;
  for (const std::string word : {"ceil", "idle", "let", "filter", "true", "hour"})
    EXPECT_THAT(
        metric_problems(R"({"name": ")" + word + R"(", "source": {"hostler": {"count": "busy"}}})"),
        ElementsAre(AllOf(HasSubstr("metrics[0].name: found \"" + word + "\""),
                          HasSubstr("choose another name"))));
  EXPECT_THAT(metric_problems(sourced("") + ", " + sourced("")),
              ElementsAre(HasSubstr("metrics[1].name: found \"m\" a second time")));
  EXPECT_THAT(metric_problems(R"({"source": {"hostler": {"count": "busy"}}})"),
              ElementsAre(HasSubstr("metrics[0].name: missing")));
}

TEST(MetricsTest, ASourceIsOfExactlyOneKind) {
  EXPECT_THAT(metric_problems(metric("")), ElementsAre(HasSubstr("metrics[0].source: missing")));
  EXPECT_THAT(metric_problems(from("")), ElementsAre(HasSubstr("metrics[0].source: ")));
  EXPECT_THAT(metric_problems(from(R"("hostler": {"count": "idle"}, "file": {"path": "/x"})")),
              ElementsAre(HasSubstr("metrics[0].source: ")));
  EXPECT_THAT(
      metric_problems(metric(R"(, "source": "/run/load")")),
      ElementsAre(HasSubstr("an object with one of prometheus, http, file, exec, hostler")));
  EXPECT_THAT(metric_problems(from(R"("sql": {})")),
              testing::Contains(HasSubstr("metrics[0].source.sql: unknown key")));
  EXPECT_THAT(metric_problems(from(R"("file": "x")")),
              ElementsAre(HasSubstr("metrics[0].source.file: found \"x\", allowed: an object")));
}

TEST(MetricsTest, AnAddressIsOfHttpWithoutSecretsInIt) {
  const auto problems = [](const std::string& url) {
    return metric_problems(from(R"("http": {"url": ")" + url + "\"}"));
  };
  for (const std::string good : {"http://a", "https://a.b:1/c?d=e", "http://[::1]:80/"})
    EXPECT_THAT(problems(good), IsEmpty()) << good;
  for (const std::string bad : {"", "a", "ftp://a", "http://", "http:///x", "http://a:0",
                                "http://a:x", "http://a b", "file:///etc/passwd", "http://a:99999"})
    EXPECT_THAT(problems(bad), ElementsAre(HasSubstr("metrics[0].source.http.url: "))) << bad;
  EXPECT_THAT(problems("https://ann:opensesame@a/x"),
              ElementsAre(AllOf(HasSubstr("token_file"), Not(HasSubstr("opensesame")))));
  EXPECT_THAT(
      metric_problems(from(R"("prometheus": {"url": "http://a/?x=y", "query": "q"})")),
      ElementsAre(HasSubstr("metrics[0].source.prometheus.url: it must be the address of")));
}

TEST(MetricsTest, ATokenIsNotSentWhereTheNetworkCanReadIt) {
  const auto problems = [](const std::string& url) {
    return metric_problems(from(R"("http": {"token_file": "t", "url": ")" + url + "\"}"));
  };
  for (const std::string good :
       {"https://a", "http://localhost", "http://127.0.0.1:9090", "http://[::1]/x"})
    EXPECT_THAT(problems(good), IsEmpty()) << good;
  for (const std::string bad : {"http://a", "http://10.0.0.1", "http://127.evil.example"})
    EXPECT_THAT(problems(bad), ElementsAre(HasSubstr("metrics[0].source.http.token_file: a token")))
        << bad;
}

TEST(MetricsTest, AQueryHasOneSampleOrOneForEachPoolOrInstance) {
  EXPECT_THAT(metric_problems(prometheus(R"("query": "q", "by": "pool", "pick": "sum")")),
              ElementsAre(HasSubstr("metrics[0].source.prometheus.pick: by takes one sample")));
  EXPECT_THAT(metric_problems(prometheus(R"("query": "q", "by": "a-b")")),
              ElementsAre(HasSubstr("metrics[0].source.prometheus.by: ")));
  EXPECT_THAT(metric_problems(prometheus(R"("query": "q", "pick": "first")")),
              ElementsAre(HasSubstr("allowed: sum, max, min, avg")));
  EXPECT_THAT(metric_problems(prometheus(R"("query": "")")),
              ElementsAre(HasSubstr("metrics[0].source.prometheus.query: ")));
}

TEST(MetricsTest, AnAgeNeedsASelectorWhoseSamplesAreDated) {
  const auto problems = [](const std::string& members, const std::string& text = "m") {
    return site_problems(site_with(members, R"("min": ")" + text + "\""));
  };
  const auto asked = [](const std::string& query) {
    return R"({"name": "m", "max_age": "1m", "source": {"prometheus": {"url": "http://a", )" +
           query + "}}}";
  };
  for (const std::string plain : {R"(q)", R"(a:b_1{x=\"}\", y=~'\\}'})", R"({__name__=\"q\"})"})
    EXPECT_THAT(problems(asked("\"query\": \"" + plain + "\"")), IsEmpty()) << plain;
  for (const std::string query :
       {"sum(q)", "q + 1", "q[5m]", "q offset 5m", "1", "q{a=\\\"b\\\"} "})
    EXPECT_THAT(
        problems(asked("\"query\": \"" + query + "\"")),
        ElementsAre(AllOf(HasSubstr("metrics[0].source.prometheus.query: "), HasSubstr("age_of"))))
        << query;
  EXPECT_THAT(problems(asked(R"x("query": "sum(q)", "age_of": "q")x")), IsEmpty());
  EXPECT_THAT(problems(asked(R"x("query": "sum(q)", "age_of": "sum(q)")x")),
              ElementsAre(HasSubstr("metrics[0].source.prometheus.age_of: ")));
  EXPECT_THAT(problems(prometheus(R"x("query": "sum(q)")x"), "age(m)"),
              ElementsAre(HasSubstr("age_of")));
  EXPECT_TRUE(good_site(site_with(prometheus(R"("query": "q")"), R"x("min": "age(m)")x"))
                  .metric_sources[0]
                  .asks_age);
}

TEST(MetricsTest, WhatHasNoTimeOfItsOwnHasNoLargestAge) {
  for (const std::string source :
       {R"("http": {"url": "http://a"})", R"("exec": {"command": ["/opt/x"]})",
        R"("hostler": {"count": "idle"})"})
    EXPECT_THAT(metric_problems(metric(R"(, "max_age": "1m", "source": {)" + source + "}")),
                ElementsAre(HasSubstr("metrics[0].max_age: it has no effect here, since ")))
        << source;
  const std::string file = R"(, "source": {"file": {"path": "/x"}}, "max_age": ")";
  EXPECT_THAT(metric_problems(metric(file + "15s\"")), IsEmpty());
  EXPECT_THAT(metric_problems(metric(file + "14s\"")),
              ElementsAre(HasSubstr("which is below the interval 15s")));
}

TEST(MetricsTest, ReadingsOfOneMetricFollowEachOther) {
  for (const char* bad : {"0s", "999ms", "61m", "-1s"})
    EXPECT_THAT(metric_problems(sourced(R"(, "interval": ")" + std::string(bad) + "\"")),
                ElementsAre(HasSubstr("metrics[0].interval: ")))
        << bad;
  EXPECT_THAT(metric_problems(sourced(R"(, "timeout": "16s")")),
              ElementsAre(HasSubstr("found 16s, which is above the interval 15s")));
  EXPECT_THAT(metric_problems(sourced(R"(, "timeout": "10ms")")),
              ElementsAre(HasSubstr("metrics[0].timeout: ")));
  const Config config = good_site(site_with(sourced(R"(, "interval": "2s")"), R"("min": "m")"));
  EXPECT_EQ(config.metric_sources[0].timeout, 2s) << "the default is above the interval";
}

// F-W5: what is done about a missing or senseless value is said for each metric.
TEST(MetricsTest, RefusesLimitsAndFailuresThatSayNothing) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {R"("valid": {})", "valid: found no key"},
      {R"("valid": {"min": 2, "max": 1})", "valid.min: min is above max"},
      {R"("valid": {"min": "1"})", "valid.min: found \"1\""},
      {R"("valid": {"min": 1e16})", "valid.min: "},
      {R"("max_step": 0)", "max_step: found 0"},
      {R"("max_step": -1)", "max_step: found -1"},
      {R"("on_failure": "zero")", "on_failure: found \"zero\", allowed: \"hold\", {\"last\""},
      {R"("on_failure": "last")", R"(allowed: "hold", {"last": "5m"} or {"value": 0})"},
      {R"("on_failure": 0)", "on_failure: found 0, allowed: \"hold\", {\"last\""},
      {R"("on_failure": {})", "on_failure: "},
      {R"("on_failure": {"last": "1m", "value": 0})", "on_failure: "},
      {R"("on_failure": {"last": "0s"})", "on_failure.last: "},
      {R"("on_failure": {"value": null})", "on_failure.value: "}};
  for (const auto& [members, problem] : bad)
    EXPECT_THAT(metric_problems(sourced(", " + members)),
                ElementsAre(AllOf(HasSubstr("metrics[0]."), HasSubstr(problem))))
        << members;
}

TEST(MetricsTest, RefusesBadPathsPointersProgramsAndCounts) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {R"("file": {})", "file.path: missing"},
      {R"("file": {"path": ""})", "file.path: "},
      {R"("file": {"path": "/x", "pointer": "a"})", "file.pointer: found \"a\", allowed: a JSON"},
      {R"("file": {"path": "/x", "pointer": "/~2"})", "file.pointer: "},
      {R"("file": {"path": "/x", "pointer": "/~"})", "file.pointer: "},
      {R"("exec": {"command": []})", "exec.command: it must begin with the absolute path"},
      {R"("exec": {"command": ["x"]})", "exec.command: it must begin with the absolute path"},
      {R"("exec": {"command": "/opt/x y"})",
       R"(exec.command: found "/opt/x y", allowed: an array: the absolute path)"},
      {R"("hostler": {"count": "dead"})", "hostler.count: "},
      {R"("hostler": {"count": "busy", "pool": "nope"})",
       "hostler.pool: found \"nope\", which is not a configured pool"}};
  for (const auto& [source, problem] : bad)
    EXPECT_THAT(metric_problems(from(source)),
                ElementsAre(HasSubstr("metrics[0].source." + problem)))
        << source;
}

TEST(MetricsTest, ThereAreTwoHundredAtMost) {
  const auto many = [](int count) {
    std::string out;
    for (int i = 0; i < count; ++i)
      out += (i == 0 ? "" : ", ") + (R"({"name": "m)" + std::to_string(i) +
                                     R"(", "source": {"hostler": {"count": "idle"}}})");
    return metric_problems(out);
  };
  EXPECT_THAT(many(200), IsEmpty());
  EXPECT_THAT(many(201), ElementsAre(HasSubstr("metrics: found an array of 201")));
}

TEST(MetricsTest, WarnsOfAMetricThatNoPoolUses) {
  EXPECT_THAT(read_site(site_with(sourced(""), "\"min\": 1")).warnings,
              ElementsAre("metrics: no pool uses \"m\""));
  EXPECT_THAT(read_site(site_with(sourced(""), R"x("max": "avg_over(m, \"5m\")")x")).warnings,
              IsEmpty());
}

}  // namespace
}  // namespace hostler::config

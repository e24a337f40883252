#include "core/sources/prometheus.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hostler::sources {
namespace {

/// Of a successful query.
HttpAnswer answer(const std::string& type, const std::string& result) {
  return {200,
          R"({"status": "success", "warnings": ["w"], "infos": ["i"], "data": {"resultType": ")" +
              type + R"(", "result": )" + result + "}}"};
}

std::string sample(const std::string& labels, const std::string& value) {
  return R"({"metric": {)" + labels + R"(}, "value": [1435781451.781, ")" + value + "\"]}";
}

std::string error_of(const HttpAnswer& from, const std::string& by = "") {
  const auto result = parse_instant(from, by);
  return result ? "none" : result.error().message;
}

std::vector<VectorElement> elements(std::initializer_list<double> values) {
  std::vector<VectorElement> made;
  for (const double value : values) made.push_back({"", value});
  return made;
}

double pick_of(std::initializer_list<double> values, model::Pick pick) {
  return pick_elements(elements(values), pick, "").value().at(0).value;
}

TEST(PrometheusTest, AsksByAnAddressWithEveryCharacterEncoded) {
  EXPECT_EQ(instant_query("http://p:9090/", "sum(a{b=\"c d\"})", "12.5").url,
            "http://p:9090/api/v1/query?query=sum%28a%7Bb%3D%22c%20d%22%7D%29&time=12.5");
  EXPECT_EQ(instant_query("http://p/base", "a", "").url, "http://p/base/api/v1/query?query=a");
}

TEST(PrometheusTest, SendsALongQueryAsAForm) {
  const HttpRequest request = instant_query("http://p", std::string(5000, 'a'), "");
  EXPECT_EQ(request.url, "http://p/api/v1/query");
  EXPECT_EQ(request.form, "query=" + std::string(5000, 'a'));
}

TEST(PrometheusTest, ReadsVectorsAndScalars) {
  const auto vector = parse_instant(answer("vector", "[" + sample("", "3.5") + "]"), "").value();
  EXPECT_EQ(vector.time, "1435781451.781");
  EXPECT_EQ(vector.elements.at(0).value, 3.5);
  const auto scalar = parse_instant(answer("scalar", R"([5, "7"])"), "").value();
  EXPECT_EQ(scalar.time, "5");
  EXPECT_EQ(scalar.elements.at(0).value, 7);
}

TEST(PrometheusTest, PassesOnValuesThatAreNoNumberAndLeavesThemToTheLoop) {
  const auto nan = parse_instant(answer("vector", "[" + sample("", "NaN") + "]"), "").value();
  EXPECT_TRUE(std::isnan(nan.elements.at(0).value));
  const auto inf = parse_instant(answer("vector", "[" + sample("", "+Inf") + "]"), "").value();
  EXPECT_TRUE(std::isinf(inf.elements.at(0).value));
}

TEST(PrometheusTest, ReadsOneSampleForEachValueOfTheLabel) {
  const std::string list =
      "[" + sample(R"("pool": "web")", "1") + "," + sample(R"("pool": "db")", "2") + "]";
  const auto result = parse_instant(answer("vector", list), "pool").value();
  ASSERT_EQ(result.elements.size(), 2U);
  EXPECT_EQ(result.elements[0].key, "web");
  EXPECT_EQ(result.elements[1].key, "db");
}

TEST(PrometheusTest, ASampleWithoutTheLabelIsAFailure) {
  const std::string list = "[" + sample(R"("pool": "web")", "1") + "," + sample("", "2") + "]";
  EXPECT_EQ(error_of(answer("vector", list), "pool"),
            "a sample has no label pool; write a query that keeps it, as in sum by (pool) (...)");
  EXPECT_EQ(error_of(answer("scalar", R"([5, "7"])"), "pool"),
            "the result of the query is a scalar, which has no label pool");
  const std::string large = "[" + sample("\"pool\": \"" + std::string(300, 'a') + "\"", "1") + "]";
  EXPECT_EQ(error_of(answer("vector", large), "pool"),
            "a value of the label pool has more than 255 bytes");
}

TEST(PrometheusTest, NoSampleIsAFailureAndNotZero) {  // F-W5
  EXPECT_EQ(error_of(answer("vector", "[]")),
            "the query has no samples: Prometheus knows no such series now");
}

TEST(PrometheusTest, RefusesOtherResults) {
  EXPECT_EQ(error_of(answer("matrix", "[]")),
            "the result of the query is a matrix, allowed: a vector or a scalar");
  EXPECT_EQ(error_of(answer("string", R"([1, "x"])")),
            "the result of the query is a string, allowed: a vector or a scalar");
  EXPECT_EQ(error_of({200, R"({"status": "success"})"}),
            "the result of the query is a thing unknown, allowed: a vector or a scalar");
}

TEST(PrometheusTest, RefusesAnswersOfWrongTypes) {
  for (const char* result :
       {"null", "{}", "7", "[7]", "[[]]", "[{}]", R"([{"value": 7}])", R"([{"value": [1, 2]}])",
        R"([{"value": ["1", "2"]}])", R"([{"value": [1, "x"]}])", R"([{"value": [1, "2", 3]}])"})
    EXPECT_NE(error_of(answer("vector", result)), "none") << result;
  EXPECT_NE(error_of(answer("vector", R"([{"metric": 5, "value": [1, "2"]}])"), "pool"), "none");
  EXPECT_NE(error_of(answer("scalar", "null")), "none");
}

TEST(PrometheusTest, RefusesATimeThatIsTooLongToBeSentBack) {
  const std::string long_time = "5." + std::string(40, '0');
  EXPECT_NE(error_of(answer("scalar", "[" + long_time + R"(, "7"])")), "none");
}

TEST(PrometheusTest, RefusesWhatIsNotOfPrometheus) {
  EXPECT_EQ(error_of({200, "<html>login</html>"}).rfind("the answer is not Prometheus': ", 0), 0U);
  EXPECT_EQ(error_of({200, "[]"}),
            "the answer is not Prometheus': its status is neither \"success\" nor \"error\"");
  EXPECT_EQ(error_of({500, "<html>down</html>"}), "the answer has status 500");
  EXPECT_EQ(error_of({200, ""}).rfind("the answer is not Prometheus': ", 0), 0U);
}

TEST(PrometheusTest, QuotesTheErrorOfTheServerInOneShortLine) {
  EXPECT_EQ(
      error_of({400, R"({"status": "error", "errorType": "bad_data", "error": "bad\n\u001b[0m"})"}),
      "Prometheus refuses the query: bad \\u001b[0m");
  const std::string flood = R"({"status": "error", "error": ")" + std::string(100'000, 'e') + "\"}";
  EXPECT_LT(error_of({503, flood}).size(), 300U);
}

TEST(PrometheusTest, RefusesMoreThanTenThousandSamples) {
  std::string list = "[" + sample("", "1");
  for (std::size_t i = 0; i < kSamplesMax; ++i) list += "," + sample("", "1");
  EXPECT_EQ(error_of(answer("vector", list + "]")), "the query has 10001 samples, allowed: 10000");
}

TEST(PrometheusTest, PicksOneNumberOfSeveral) {
  EXPECT_EQ(pick_of({1, 2, 6}, model::Pick::kSum), 9);
  EXPECT_EQ(pick_of({1, 2, 6}, model::Pick::kMax), 6);
  EXPECT_EQ(pick_of({1, 2, 6}, model::Pick::kMin), 1);
  EXPECT_EQ(pick_of({1, 2, 6}, model::Pick::kAvg), 3);
  EXPECT_EQ(pick_of({5}, model::Pick::kNone), 5);
}

TEST(PrometheusTest, OneValueThatIsNoNumberMakesTheWholeNone) {
  for (const auto pick :
       {model::Pick::kSum, model::Pick::kMax, model::Pick::kMin, model::Pick::kAvg}) {
    EXPECT_TRUE(std::isnan(pick_of({1, std::nan(""), 6}, pick)));
    EXPECT_TRUE(std::isnan(pick_of({std::nan(""), 6}, pick)));
  }
}

TEST(PrometheusTest, SeveralSamplesWithoutAPickAreAFailure) {  // F-W5: not the first one
  const auto several = pick_elements(elements({1, 2}), model::Pick::kNone, "");
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().message,
            "the query has 2 samples; set `pick` or `by`, or write a query with one");
  const auto doubled =
      pick_elements({{"web", 1}, {"db", 2}, {"web", 3}}, model::Pick::kNone, "pool");
  ASSERT_FALSE(doubled);
  EXPECT_EQ(doubled.error().message,
            "two samples have the value web of the label pool; write a query with one sample for "
            "each, as in sum by (pool) (...)");
}

TEST(PrometheusTest, PicksWithinEachValueOfTheLabel) {
  const auto sums =
      pick_elements({{"web", 1}, {"db", 2}, {"web", 3}}, model::Pick::kSum, "pool").value();
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].key + "=" + std::to_string(sums[0].value), "db=2.000000");
  EXPECT_EQ(sums[1].key + "=" + std::to_string(sums[1].value), "web=4.000000");
}

}  // namespace
}  // namespace hostler::sources

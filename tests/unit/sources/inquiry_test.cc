#include "core/sources/inquiry.h"

#include <gtest/gtest.h>

namespace hostler::sources {
namespace {

constexpr Wall kNow{2'000'000'000};  // 2000 s

model::MetricSource prometheus() {
  model::MetricSource source;
  source.name = "depth";
  source.kind = model::MetricSource::Kind::kPrometheus;
  source.url = "http://p";
  source.query = "q";
  return source;
}

/// Samples as LABEL, VALUE at second 900 of the server.
HttpAnswer vector_of(const std::vector<std::pair<std::string, std::string>>& samples) {
  std::string list;
  for (const auto& [label, value] : samples)
    list += std::string(list.empty() ? "" : ",") + R"({"metric": {"pool": ")" + label +
            R"("}, "value": [900, ")" + value + "\"]}";
  return {200,
          R"({"status": "success", "data": {"resultType": "vector", "result": [)" + list + "]}}"};
}

std::string error_of(const Result<std::optional<Samples>>& taken) {
  return taken ? "none" : taken.error().message;
}

TEST(InquiryTest, ASampleIsAsOldAsItsQueryWithoutAQuestionForItsAge) {
  Inquiry inquiry(prometheus(), std::nullopt, kNow);
  EXPECT_EQ(inquiry.request().url, "http://p/api/v1/query?query=q");
  const auto samples = inquiry.take(vector_of({{"", "5"}})).value().value();
  EXPECT_EQ(samples, (Samples{{.key = "", .value = 5, .taken = kNow}}));
}

TEST(InquiryTest, AsksAsOfATime) {
  Inquiry inquiry(prometheus(), Wall{1'500'000'250'000}, kNow);
  EXPECT_EQ(inquiry.request().url, "http://p/api/v1/query?query=q&time=1500000.250000");
  EXPECT_EQ(inquiry.take(vector_of({{"", "5"}})).value().value().at(0).taken.us, 1'500'000'250'000);
}

TEST(InquiryTest, TheAgeIsAskedForAtTheSameTimeAndGoesByTheClockOfTheServer) {
  auto source = prometheus();
  source.asks_age = true;
  Inquiry inquiry(source, std::nullopt, kNow);
  EXPECT_FALSE(inquiry.take(vector_of({{"", "5"}})).value());
  EXPECT_EQ(inquiry.request().url,
            "http://p/api/v1/query?query=min%28timestamp%28q%29%29&time=900");
  const auto samples = inquiry.take(vector_of({{"", "840.5"}})).value().value();
  EXPECT_EQ(samples, (Samples{{.key = "", .value = 5, .taken = Wall{kNow.us - 59'500'000}}}));
}

TEST(InquiryTest, TheAgeOfALabelIsThatOfItsOldestSample) {
  auto source = prometheus();
  source.asks_age = true;
  source.age_of = "raw";
  source.by = "pool";
  Inquiry inquiry(source, std::nullopt, kNow);
  EXPECT_FALSE(inquiry.take(vector_of({{"web", "5"}, {"db", "6"}, {"old", "7"}})).value());
  EXPECT_EQ(
      inquiry.request().url,
      "http://p/api/v1/query?query=min%20by%20%28pool%29%20%28timestamp%28raw%29%29&time=900");
  const auto samples =
      inquiry.take(vector_of({{"web", "899"}, {"web", "890"}, {"db", "898"}})).value().value();
  EXPECT_EQ(samples, (Samples{{.key = "db", .value = 6, .taken = Wall{kNow.us - 2'000'000}},
                              {.key = "web", .value = 5, .taken = Wall{kNow.us - 10'000'000}}}));
}

TEST(InquiryTest, ATimeThatCannotBeIsAFailure) {
  auto source = prometheus();
  source.asks_age = true;
  for (const char* time : {"NaN", "+Inf", "-Inf", "1e300", "-1e300"}) {
    Inquiry inquiry(source, std::nullopt, kNow);
    EXPECT_FALSE(inquiry.take(vector_of({{"", "5"}})).value());
    EXPECT_EQ(error_of(inquiry.take(vector_of({{"", time}}))),
              "Prometheus says no time of the sample that can be")
        << time;
  }
}

TEST(InquiryTest, ATimeAheadOfTheQueryIsNoNegativeAge) {
  auto source = prometheus();
  source.asks_age = true;
  Inquiry inquiry(source, std::nullopt, kNow);
  EXPECT_FALSE(inquiry.take(vector_of({{"", "5"}})).value());
  EXPECT_EQ(inquiry.take(vector_of({{"", "905"}})).value().value().at(0).taken, kNow);
}

TEST(InquiryTest, AValueWithoutAnAgeIsAFailure) {
  auto source = prometheus();
  source.asks_age = true;
  Inquiry inquiry(source, std::nullopt, kNow);
  EXPECT_FALSE(inquiry.take(vector_of({{"", "5"}})).value());
  EXPECT_EQ(error_of(inquiry.take(vector_of({}))),
            "the age: the query has no samples: Prometheus knows no such series now");
}

TEST(InquiryTest, ReadsTheBodyOfAnHttpSource) {
  auto source = prometheus();
  source.kind = model::MetricSource::Kind::kHttp;
  source.url = "http://h/stats";
  source.pointer = "/depth";
  Inquiry inquiry(source, std::nullopt, kNow);
  EXPECT_EQ(inquiry.request().url, "http://h/stats");
  EXPECT_EQ(inquiry.take({200, R"({"depth": 9})"}).value().value(),
            (Samples{{.key = "", .value = 9, .taken = kNow}}));
  EXPECT_EQ(error_of(inquiry.take({500, R"({"depth": 9})"})), "the answer has status 500");
  EXPECT_EQ(error_of(inquiry.take({302, ""})),
            "the answer has status 302, a redirect, which is not followed: write the address that "
            "it leads to in `url`");
}

}  // namespace
}  // namespace hostler::sources

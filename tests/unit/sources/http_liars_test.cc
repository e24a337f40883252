// Servers that answer wrongly, or not at all.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/sources/http_readings.h"
#include "core/sources/read_once.h"
#include "tests/support/fake_http.h"
#include "tests/temp_folder.h"
#include "tests/unit/lxd/liar.h"

namespace hostler::sources {
namespace {

using namespace std::chrono_literals;
using test::FakeHttp;
using test::http_reply;
using Then = FakeHttp::Reply::Then;

constexpr const char* kFive =
    R"({"status": "success", "data": {"resultType": "scalar", "result": [900, "5"]}})";
constexpr const char* kSecret = "s3cr3t-t0ken";

model::MetricSource source_of(const FakeHttp& server, Duration timeout = 60s) {
  model::MetricSource source;
  source.name = "depth";
  source.kind = model::MetricSource::Kind::kPrometheus;
  source.url = server.url();
  source.query = "q";
  source.timeout = timeout;
  return source;
}

/// Without the address of the server, which is another each time.
std::string failure_of(const model::MetricReading& reading, const FakeHttp& server) {
  std::string text = reading.failure;
  if (const auto at = text.find(server.url()); at != text.npos)
    text.replace(at, server.url().size(), "SERVER");
  return text;
}

std::string failure_of(const FakeHttp::Reply& reply, Duration timeout = 60s) {
  const FakeHttp server([&reply](const std::string&) { return reply; });
  const auto reading = read_once(source_of(server, timeout), std::nullopt);
  EXPECT_TRUE(reading.samples.empty());
  return failure_of(reading, server);
}

TEST(HttpLiarsTest, AGoodServerIsRead) {
  const FakeHttp server([](const std::string&) { return http_reply(kFive); });
  const auto reading = read_once(source_of(server), std::nullopt);
  EXPECT_EQ(reading.metric, "depth");
  EXPECT_EQ(reading.failure, "");
  ASSERT_EQ(reading.samples.size(), 1U);
  EXPECT_EQ(reading.samples[0].value, 5);
}

TEST(HttpLiarsTest, GarbageAndHtmlAreFailures) {
  EXPECT_EQ(failure_of({"\x01\x02\xff garbage\r\n\r\n", Then::kClose}).rfind("SERVER ", 0), 0U);
  EXPECT_EQ(failure_of({"", Then::kClose}), "SERVER does not answer (Empty reply from server)");
  EXPECT_EQ(failure_of(http_reply("<html>Sign in</html>")).rfind("SERVER: the answer is not ", 0),
            0U);
  EXPECT_EQ(failure_of(http_reply("<h1>x</h1>", "500 Oops")), "SERVER: the answer has status 500");
  EXPECT_EQ(failure_of(http_reply("", "401 No")),
            "SERVER: the answer has status 401; check `token_file`");
}

TEST(HttpLiarsTest, AnAnswerThatIsCutIsAFailure) {
  EXPECT_NE(
      failure_of({"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"status\"", Then::kClose}), "");
}

TEST(HttpLiarsTest, ARedirectIsNotFollowedAndItsTargetLearnsNoToken) {
  const test::TempFolder folder;
  const FakeHttp::Handler good = [](const std::string&) { return http_reply(kFive); };
  FakeHttp target(good);
  FakeHttp server([&](const std::string&) {
    return http_reply("", "302 Found", "Location: " + target.url() + "/\r\n");
  });
  auto source = source_of(server);
  source.token_file = folder.put("token", kSecret);
  const auto reading = read_once(source, std::nullopt);
  EXPECT_EQ(failure_of(reading, server),
            "SERVER: the answer has status 302, a redirect, which is not followed: write the "
            "address that it leads to in `url`");
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_TRUE(target.requests().empty());
}

TEST(HttpLiarsTest, AServerWhoseCertificateNobodyVouchesForLearnsNoToken) {
  const test::TempFolder folder;
  const auto identity = lxd::test::make_identity();
  const lxd::test::Liar server(http_reply(kFive).bytes, &identity);
  model::MetricSource source;
  source.kind = model::MetricSource::Kind::kPrometheus;
  source.url = server.url();
  source.query = "q";
  source.timeout = 60s;
  source.token_file = folder.put("token", kSecret);
  const auto reading = read_once(source, std::nullopt);
  EXPECT_NE(reading.failure.find("SSL certificate problem"), std::string::npos) << reading.failure;
  EXPECT_EQ(server.requests(), 0);
}

TEST(HttpLiarsTest, AServerThatHangsIsGivenUpAtTheTimeout) {  // F-W5
  EXPECT_EQ(failure_of({"", Then::kHang}, 50ms), "SERVER did not answer within 50 ms");
  EXPECT_EQ(failure_of({"HTTP/1.1 200 OK\r\n", Then::kHang}, 50ms),
            "SERVER did not answer within 50 ms");
}

TEST(HttpLiarsTest, AReadingThatIsCancelledIsDroppedOnceAndNotReturned) {
  FakeHttp server([](const std::string&) { return FakeHttp::Reply{"", Then::kHang, "x"}; });
  HttpReadings readings;
  readings.start(1, source_of(server), std::nullopt);
  readings.start(2, source_of(server, 10ms), std::nullopt);
  EXPECT_TRUE(readings.cancel(1));
  EXPECT_FALSE(readings.cancel(1));
  std::vector<Ended> ended;
  while (ended.empty()) ended = readings.wait(60s);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].id, 2U);
  EXPECT_FALSE(readings.cancel(2));
}

TEST(HttpLiarsTest, AServerThatTricklesIsGivenUpAtTheTimeout) {
  EXPECT_EQ(failure_of({"HTTP/1.1 200 OK\r\n\r\n{", Then::kTrickle, " "}, 50ms),
            "SERVER did not answer within 50 ms");
}

TEST(HttpLiarsTest, AFloodIsCutAtEightMebibytes) {
  EXPECT_EQ(failure_of({"HTTP/1.1 200 OK\r\n\r\n", Then::kFlood, std::string(65536, '[')}),
            "SERVER: the answer has more than 8 MiB, or too long headers");
  EXPECT_EQ(failure_of({"HTTP/1.1 200 OK\r\n", Then::kFlood,
                        "X-Header: " + std::string(500, 'x') + "\r\n"}),
            "SERVER: the answer has more than 8 MiB, or too long headers");
}

TEST(HttpLiarsTest, AnAnswerOfManyValuesIsRefused) {
  std::string body = "[0";
  while (body.size() < (std::size_t{7} << 20U)) body += ",0";
  EXPECT_NE(failure_of(http_reply(body + "]")), "");
}

TEST(HttpLiarsTest, AnAddressThatIsNoneIsAFailure) {
  model::MetricSource source;
  source.kind = model::MetricSource::Kind::kHttp;
  for (const char* url : {"", "nonsense://x", "file:///etc/passwd", "/path", "http://"}) {
    source.url = url;
    EXPECT_EQ(read_once(source, std::nullopt).failure,
              "`url` is no address of HTTP, such as http://127.0.0.1:9090")
        << url;
  }
  source.url = "http://ann:pass@127.0.0.1:9/";
  EXPECT_EQ(read_once(source, std::nullopt).failure,
            "`url` has a user in it; use `token_file` instead");
}

TEST(HttpLiarsTest, ATokenGoesToItsServerAndIsReadAnewEachTime) {
  const test::TempFolder folder;
  FakeHttp server([](const std::string&) { return http_reply(kFive); });
  auto source = source_of(server);
  source.token_file = folder.put("token", std::string(kSecret) + "\n");
  EXPECT_EQ(read_once(source, std::nullopt).failure, "");
  folder.put("token", "FlyV1 abc,def\n");
  EXPECT_EQ(read_once(source, std::nullopt).failure, "");
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_NE(server.requests()[0].find("\r\nAuthorization: Bearer s3cr3t-t0ken\r\n"),
            std::string::npos);
  EXPECT_NE(server.requests()[1].find("\r\nAuthorization: FlyV1 abc,def\r\n"), std::string::npos);
}

// Bug: the token was looked for in the bytes of the answer, so one that was escaped in JSON, or a
// part of it, got into messages.
TEST(HttpLiarsTest, AServerThatSendsTheTokenBackPutsNoPartOfItIntoAMessage) {
  const test::TempFolder folder;
  std::string body;
  const FakeHttp server([&](const std::string&) { return http_reply(body, "403 No"); });
  auto source = source_of(server);
  source.token_file = folder.put("token", kSecret);
  for (const char* text : {"s3cr3t-t0ken", "s3cr3t", "\\u0073\\u0033cr3t-t0ken"}) {
    body = R"({"status": "error", "errorType": "bad_data", "error": ")" + std::string(text) + "\"}";
    EXPECT_EQ(failure_of(read_once(source, std::nullopt), server),
              "SERVER: Prometheus refuses the query: bad_data; check `token_file`");
    body = R"({"status": "error", "errorType": ")" + std::string(text) + "\"}";
    EXPECT_EQ(failure_of(read_once(source, std::nullopt), server),
              "SERVER: Prometheus refuses the query: no reason; check `token_file`");
  }
}

TEST(HttpLiarsTest, NoErrorOfASourceWithATokenQuotesTheAnswer) {
  const test::TempFolder folder;
  std::string body;
  const FakeHttp server([&](const std::string&) { return http_reply(body); });
  auto source = source_of(server);
  source.token_file = folder.put("token", kSecret);
  source.by = "pool";
  const std::string success = R"({"status": "success", "data": )";
  const std::string sample = R"({"metric": {"pool": "s3cr3t"}, "value": [1, "2"]})";
  for (
      const auto& answer :
      {std::string("s3cr3t"), std::string(R"({"s3cr3t": {"s3cr3t": 1, "s3cr3t": 2}})"),
       success + R"({"resultType": "s3cr3t"}})",
       success + R"({"resultType": "vector", "result": [)" + sample + ", " + sample + "]}}",
       success +
           R"({"resultType": "vector", "result": [{"metric": {"pool": "a"}, "value": "s3cr3t"}]}})"}) {
    for (const auto kind :
         {model::MetricSource::Kind::kPrometheus, model::MetricSource::Kind::kHttp}) {
      source.kind = kind;
      source.pointer = kind == model::MetricSource::Kind::kHttp ? "/data" : "";
      body = answer;
      const std::string failure = failure_of(read_once(source, std::nullopt), server);
      EXPECT_NE(failure, "") << answer;
      EXPECT_EQ(failure.find("s3cr3t"), std::string::npos) << failure;
    }
  }
  source.pointer = "";
  for (const char* answer : {"\"s3cr3t\"", "1e99999"}) {
    body = answer;
    const std::string failure = failure_of(read_once(source, std::nullopt), server);
    EXPECT_NE(failure, "");
    EXPECT_EQ(failure.find(std::string(answer).substr(1, 5)), std::string::npos) << failure;
  }
}

TEST(HttpLiarsTest, AsksForTheAgeInTheSameReading) {
  FakeHttp server([](const std::string& request) {
    const bool is_age = request.find("timestamp") != std::string::npos;
    return http_reply(
        R"({"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}, "value": [900, ")" +
        std::string(is_age ? "840" : "5") + R"("]}]}})");
  });
  auto source = source_of(server);
  source.asks_age = true;
  const auto reading = read_once(source, Wall{900'000'000});
  ASSERT_EQ(reading.failure, "");
  EXPECT_EQ(reading.samples.at(0).value, 5);
  EXPECT_EQ(reading.samples.at(0).taken.us, 840'000'000);
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST(HttpLiarsTest, AServerThatHangsAtTheSecondQuestionIsGivenUp) {
  const FakeHttp server([](const std::string& request) {
    if (request.find("timestamp") != std::string::npos)
      return FakeHttp::Reply{"", Then::kHang, "x"};
    return http_reply(kFive);
  });
  auto source = source_of(server, 200ms);
  source.asks_age = true;
  EXPECT_EQ(failure_of(read_once(source, std::nullopt), server),
            "SERVER did not answer within 200 ms");
}

}  // namespace
}  // namespace hostler::sources

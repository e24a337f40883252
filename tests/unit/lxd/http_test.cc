#include "http.h"

#include <curl/curl.h>
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "http/pin.h"
#include "tests/unit/lxd/call.h"
#include "tests/unit/lxd/liar.h"

namespace hostler::lxd::test {
namespace {

using ::testing::HasSubstr;

std::string answer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class LxdHttpTest : public ::testing::Test {
 protected:
  /// The status of a request over the socket or the URL of `liar`.
  hostler_status ask(const Liar& liar, const HttpRequest& request, const std::string& pin = "") {
    Config config;
    config.socket = liar.socket();
    config.url = liar.url();
    config.server_certificate_sha256 = pin;
    Credentials credentials;
    if (!config.url.empty()) credentials = {client.certificate, client.key};
    Http http(config, credentials);
    return call.run([&] { got = http.send(request, &call.op); });
  }

  const Identity client = make_identity(), server = make_identity();
  Call call;
  HttpAnswer got;
};

const HttpRequest kGet{"GET", "/1.0"};
const HttpRequest kPost{"POST", "/1.0/instances", "{}"};

TEST_F(LxdHttpTest, AnAnswerComesOverASocket) {
  const Liar liar(answer("{}"));

  EXPECT_EQ(ask(liar, kPost), HOSTLER_OK) << call.message();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "{}");
}

TEST_F(LxdHttpTest, AnAnswerSaysWhenToAskAgain) {
  const std::string begin = "HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n";
  const Liar seconds(begin + "Retry-After: 30\r\n\r\n"), never(begin + "\r\n"),
      nonsense(begin + "Retry-After: -5 soon\r\n\r\n"),
      endless(begin + "Retry-After: 9223372036854775807\r\n\r\n");

  EXPECT_EQ(ask(seconds, kGet), HOSTLER_OK) << call.message();
  EXPECT_EQ(got.retry_after_s, 30);
  EXPECT_EQ(ask(endless, kGet), HOSTLER_OK) << call.message();
  EXPECT_EQ(got.retry_after_s, 3600);
  for (const Liar* other : {&never, &nonsense}) {
    EXPECT_EQ(ask(*other, kGet), HOSTLER_OK) << call.message();
    EXPECT_EQ(got.retry_after_s, 0);
  }
}

TEST_F(LxdHttpTest, ACutAnswerLeavesTheOutcomeOfAChangeOpen) {
  const Liar liar("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{");

  EXPECT_EQ(ask(liar, kPost), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(call.outcome_unknown());
}

TEST_F(LxdHttpTest, ACutAnswerToAQuestionLeavesNothingOpen) {
  const Liar liar("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{");

  EXPECT_EQ(ask(liar, kGet), HOSTLER_E_TRANSIENT);
  EXPECT_FALSE(call.outcome_unknown());
}

TEST_F(LxdHttpTest, WhatIsNoHttpIsTemporary) {
  const Liar liar("SSH-2.0-OpenSSH_9.2\r\n");

  EXPECT_EQ(ask(liar, kGet), HOSTLER_E_TRANSIENT);
}

TEST_F(LxdHttpTest, AHugeAnswerIsNotRead) {
  const Liar liar(answer(std::string((std::size_t{64} << 20) + 1, ' ')));

  EXPECT_EQ(ask(liar, kGet), HOSTLER_E_TRANSIENT);
  EXPECT_THAT(call.message(),
              HasSubstr("more than 64 MiB: fewer instances or less user data in this project"));
}

TEST_F(LxdHttpTest, AServerThatSaysNothingIsGivenUp) {
  Liar liar("");
  liar.keep_open();
  HttpRequest request = kPost;
  request.timeout_ms = 200;

  EXPECT_EQ(ask(liar, request), HOSTLER_E_TIMEOUT);
  EXPECT_TRUE(call.outcome_unknown());
}

TEST_F(LxdHttpTest, ACancelEndsARequestAtOnce) {
  Liar liar("");
  liar.keep_open();
  std::thread other([&] {
    while (liar.requests() == 0) std::this_thread::yield();
    call.cancel();
  });

  EXPECT_EQ(ask(liar, kPost), HOSTLER_E_CANCELLED);
  EXPECT_TRUE(call.outcome_unknown());
  other.join();
}

TEST_F(LxdHttpTest, WhereNobodyListensNothingWasSent) {
  Config config;
  config.socket = "/nonexistent/socket";
  Http http(config, {});

  EXPECT_EQ(call.run([&] { http.send(kPost, &call.op); }), HOSTLER_E_TRANSIENT);
  EXPECT_FALSE(call.outcome_unknown());
  EXPECT_THAT(call.message(), HasSubstr("/nonexistent/socket does not answer (No such file"));
}

// Root may open what it likes, until it gives this capability up: of one thread, here.
TEST_F(LxdHttpTest, ASocketThatMayNotBeOpenedIsAnErrorOfAuthorisation) {
  const Liar liar(answer("{}"));
  ASSERT_EQ(::chmod(liar.socket().c_str(), 0), 0);
  std::thread unprivileged([&] {
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2]{};
    ASSERT_EQ(::syscall(SYS_capset, &head, none), 0);
    EXPECT_EQ(ask(liar, kPost), HOSTLER_E_AUTH) << call.message();
  });
  unprivileged.join();

  EXPECT_THAT(call.message(), HasSubstr("may not be opened (Permission denied)"));
  EXPECT_THAT(call.message(), HasSubstr("the daemon's user the socket's group"));
  EXPECT_FALSE(call.outcome_unknown());
  EXPECT_EQ(liar.requests(), 0);
}

// libcurl sends a request again, by itself, if a connection that it kept ends before an answer.
TEST_F(LxdHttpTest, AChangeThatWasReadByAServerThatIsGoneThenLeavesTheOutcomeOpen) {
  Liar liar(answer("{}"));
  liar.leave_at_second_request();
  Config config;
  config.socket = liar.socket();
  Http http(config, {});
  ASSERT_EQ(call.run([&] { http.send(kGet, &call.op); }), HOSTLER_OK) << call.message();

  Call change;
  EXPECT_EQ(change.run([&] { http.send(kPost, &change.op); }), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(change.outcome_unknown()) << change.message();
  EXPECT_EQ(liar.requests(), 2);
}

// As on a machine that has none.
TEST_F(LxdHttpTest, APinNeedsNoAuthorities) {
  const Liar liar(answer("{}"), &server);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 curl_easy_cleanup);
  curl_easy_setopt(curl.get(), CURLOPT_URL, liar.url().c_str());
  curl_easy_setopt(curl.get(), CURLOPT_NOBODY, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CAINFO, "/nonexistent/ca.pem");
  curl_easy_setopt(curl.get(), CURLOPT_CAPATH, "/nonexistent");

  http::pin_certificate(curl.get(), server.sha256);

  EXPECT_EQ(curl_easy_perform(curl.get()), CURLE_OK);
}

TEST_F(LxdHttpTest, TheServerOfThePinIsBelievedWhateverItsNameAndDates) {
  const Liar liar(answer("{}"), &server);

  EXPECT_EQ(ask(liar, kGet, server.sha256), HOSTLER_OK) << call.message();
  EXPECT_EQ(got.body, "{}");
}

TEST_F(LxdHttpTest, AnotherCertificateThanThatOfThePinGetsNoRequest) {
  const Liar liar(answer("{}"), &server);

  EXPECT_EQ(ask(liar, kPost, client.sha256), HOSTLER_E_AUTH) << call.message();
  EXPECT_THAT(call.message(), HasSubstr("server_certificate_sha256"));
  EXPECT_FALSE(call.outcome_unknown());
  EXPECT_EQ(liar.requests(), 0);
}

TEST_F(LxdHttpTest, ACertificateThatNobodyVouchesForGetsNoRequest) {
  const Liar liar(answer("{}"), &server);

  EXPECT_EQ(ask(liar, kPost), HOSTLER_E_AUTH) << call.message();
  EXPECT_EQ(liar.requests(), 0);
}

}  // namespace
}  // namespace hostler::lxd::test

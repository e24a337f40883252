#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// What bodies cost: whose are read, how much of them at a time, and for how long. And answers
/// that nobody takes.
namespace hostler::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using BodyTest = ApiTest;

// Bug: the body was read into memory first, and then the role was looked at.
TEST_F(BodyTest, WhoMayNotIsToldBeforeTheBodyComes) {
  Wire wire = Wire::to_port(server->tcp_port());
  (void)wire.send(
      "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 8000\r\n"
      "Authorization: Bearer ReadReadRead\r\n\r\n");
  EXPECT_EQ(wire.read().status, 403);
  EXPECT_TRUE(wire.is_over());
}

// Bug: each connection could fill as much memory as the largest submit.
TEST_F(BodyTest, AllBodiesTogetherHaveABound) {
  limits.submit_bytes_max = 1'000'000;
  ServerOptions other = options();
  other.unix_socket = folder / "other.sock";
  const auto server_of_much = *listen(other);
  server_of_much->start();
  const auto most_of_a_submit = [&] {
    Wire wire = Wire::to_socket(other.unix_socket);
    (void)wire.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" +
                    std::string(999'999, ' '));
    return wire;
  };
  std::vector<Wire> held;
  for (int n = 0; n < 24; ++n) held.push_back(most_of_a_submit());
  const std::string small = R"({"jobs": [{"script": "true"}]})";
  const std::string large = small + std::string(900'000, ' ');
  EXPECT_EQ(Wire::to_socket(other.unix_socket).ask("POST", "/v1/jobs", small).status, 200);
  // Bug: five clients that stopped in the middle of a submit kept all others from large submits.
  EXPECT_EQ(Wire::to_port(server_of_much->tcp_port())
                .ask("POST", "/v1/jobs", large, "Authorization: Bearer SubmitSubmit\r\n")
                .status,
            200);

  int refused = 0;
  for (Wire& wire : held) {
    (void)wire.send(" ");
    const auto got = wire.read();
    EXPECT_EQ(got.message().find("too much is being sent") != std::string::npos, got.status == 503);
    refused += got.status == 503 ? 1 : 0;
  }
  EXPECT_GE(refused, 1);
  EXPECT_EQ(Wire::to_socket(other.unix_socket).ask("POST", "/v1/jobs", large).status, 200);
}

// Bug: such a line was kept in memory until it ended, also of clients without a token.
TEST_F(BodyTest, AnEndlessLineBetweenChunksIsRefused) {
  for (const std::string line : {"5;a=", "5\r\nspace\r\n5;a=", "0\r\nX: "}) {
    Wire wire = Wire::to_socket(socket);
    (void)wire.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
                    line + std::string(200'000, 'x'));
    EXPECT_EQ(wire.read().status, 400) << line;
    EXPECT_TRUE(wire.is_over()) << line;
  }
}

// Bug: answers that nobody read filled the memory.
TEST_F(BodyTest, UnreadAnswersHaveABoundForEachSource) {
  service.output_part.data = std::string(40'000'000, 'x');
  const auto ask = [](Wire wire, const std::string& headers) {
    (void)wire.send("GET /v1/jobs/j-1/output HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
    EXPECT_THAT(wire.read_until("\r\n"), testing::AnyOf(HasSubstr("200"), HasSubstr("503")));
    return wire;
  };
  std::vector<Wire> unread;
  unread.push_back(ask(Wire::to_socket(socket), ""));
  Wire refused = ask(Wire::to_socket(socket), "");
  EXPECT_THAT(refused.read_until("}"), HasSubstr("too many answers have not been read yet"));
  Wire other = ask(Wire::to_port(server->tcp_port()), "Authorization: Bearer SubmitSubmit\r\n");
  EXPECT_THAT(other.read_until("xxx"), HasSubstr("\"text\":\"xxx"));
}

// Bug: an upload had ten minutes in all, whatever its size.
TEST_F(BodyTest, AnUploadMayTakeAsLongAsItComesOn) {
  ServerOptions other = options();
  other.unix_socket = folder / "other.sock";
  other.deadlines.body = {};
  const auto hasty = *listen(other);
  hasty->start();
  const auto begin = [&](const std::string& what) {
    Wire wire = Wire::to_socket(other.unix_socket);
    (void)wire.send(what +
                    " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    EXPECT_THAT(wire.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
    return wire;
  };
  EXPECT_TRUE(begin("POST /v1/jobs").is_over());
  Wire upload = begin("PUT /v1/blobs/" + std::string(64, 'a'));
  (void)upload.send("abc");
  EXPECT_EQ(upload.read().status, 200);
}

TEST_F(BodyTest, WhoTakesNothingOfALongAnswerIsCutOff) {
  service.output_part.data = std::string(4'000'000, 'x');
  ServerOptions other = options();
  other.unix_socket = folder / "other.sock";
  other.deadlines.answer_piece = {};
  const auto hasty = *listen(other);
  hasty->start();
  for (const std::string what : {"output", "output?follow=1"}) {
    Wire wire = Wire::to_socket(other.unix_socket);
    (void)wire.send("GET /v1/jobs/j-1/" + what + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(wire.is_cut_off()) << what;
  }
}

}  // namespace
}  // namespace hostler::api

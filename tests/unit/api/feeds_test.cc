#include <atomic>
#include <latch>
#include <memory>
#include <vector>

#include "core/crypto/hash.h"
#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// Streams: what came before, what comes, and how they end.
namespace hostler::api {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class FeedTest : public ApiTest {
 protected:
  Wire follow(const std::string& target) {
    Wire wire = Wire::to_socket(socket);
    (void)wire.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(wire.read_until("\r\n\r\n"),
                AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/event-stream")));
    return wire;
  }
  static model::LedgerRecord record(model::Revision rev) {
    model::LedgerRecord out;
    out.rev = rev;
    out.subject = "j-" + std::to_string(rev);
    out.event = model::Event::kSubmitted;
    return out;
  }
};

TEST_F(FeedTest, EventsBeginAfterTheCursorAndCarryTheNext) {
  service.ledger = {record(1), record(2), record(3)};
  Wire wire = follow("/v1/events?after=1");
  EXPECT_THAT(wire.read_until("\n\n"), AllOf(StartsWith("id: 2\n"), HasSubstr("\"j-2\"")));
  EXPECT_THAT(wire.read_until("\n\n"), StartsWith("id: 3\n"));
}

// Bug: each stream that was read held a thread of the server, and all requests waited.
TEST_F(FeedTest, OneStreamIsReadAtATimeAndNoRequestWaitsForIt) {
  struct Reads {
    std::atomic<int> begun{0};
    std::latch may_go{1};
  };
  const auto reads = std::make_shared<Reads>();  // The server's threads end after this function.
  service.on_events = [reads] {
    ++reads->begun;
    reads->begun.notify_all();
    reads->may_go.wait();
  };
  service.ledger = {record(1)};
  std::vector<Wire> streams;
  for (int n = 0; n < 20; ++n) streams.push_back(follow("/v1/events"));
  reads->begun.wait(0);
  for (int n = 0; n < 20; ++n) {
    Wire other = Wire::to_socket(socket);
    EXPECT_EQ(other.ask("GET", "/health").status, 200);
    EXPECT_EQ(other.ask("POST", "/v1/jobs", R"({"jobs": [{"script": "true"}]})").status, 200);
  }
  EXPECT_EQ(reads->begun, 1);
  reads->may_go.count_down();
  for (Wire& one : streams) EXPECT_THAT(one.read_until("\n\n"), HasSubstr("\"j-1\""));
}

TEST_F(FeedTest, OutputEndsWhenItHasEnded) {
  service.output_part.data = "all of it";
  service.output_part.ended = true;
  Wire wire = follow("/v1/jobs/j-1/output?follow=1");
  EXPECT_THAT(wire.read_until("\n\n"),
              AllOf(StartsWith("data: "), HasSubstr("all of it"), HasSubstr("\"ended\":true"),
                    HasSubstr("\"complete\":false")));
  EXPECT_TRUE(wire.is_over());
}

// Bug: the streams of a revoked token went on.
TEST_F(FeedTest, AStreamEndsWithItsToken) {
  const auto follow_by_token = [&](const std::string& target) {
    Wire wire = Wire::to_port(server->tcp_port());
    (void)wire.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n" +
                    "Authorization: Bearer SubmitSubmit\r\n\r\n");
    EXPECT_THAT(wire.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
    return wire;
  };
  const Token token{"ci", Role::kSubmit, crypto::sha256_hex("SubmitSubmit")};
  const Token other{"other", Role::kAdmin, crypto::sha256_hex("Other")};
  const Token less{"ci", Role::kRead, token.sha256};
  const Token renamed{"cd", Role::kSubmit, token.sha256};
  service.ledger = {record(1)};
  const std::string gone = "not a token of this site any more", changed = "another role or name";
  const std::vector<std::pair<std::vector<Token>, std::string>> table{
      {{}, gone}, {{other}, gone}, {{less}, changed}, {{renamed}, changed}};
  for (const auto& [left, why] : table) {
    server->set_tokens({token, other});
    Wire events = follow_by_token("/v1/events");
    Wire output = follow_by_token("/v1/jobs/j-1/output?follow=1");
    server->set_tokens({token});  // Another one goes: these stay.
    EXPECT_THAT(events.read_until("\n\n"), HasSubstr("\"j-1\""));
    server->set_tokens(left);
    for (Wire* const wire : {&events, &output}) {
      EXPECT_THAT(wire->read_until("\n\n"),
                  AllOf(StartsWith("event: error\ndata: {"), HasSubstr("\"forbidden\""),
                        HasSubstr("token ci"), HasSubstr(why)));
      EXPECT_TRUE(wire->is_over());
    }
  }
}

// Bug: one offset went through all attempts: of a second one what was shorter than the first was
// left out.
TEST_F(FeedTest, AnotherAttemptsOutputIsAnotherOne) {
  service.output_parts = {{1, "all of the first", 0, 0, false, false},
                          {2, "again", 0, 0, true, true}};
  Wire wire = follow("/v1/jobs/j-1/output?follow=1&attempt=1&offset=0");
  EXPECT_THAT(wire.read_until("\n\n"), HasSubstr("\"attempt\":1"));
  EXPECT_THAT(wire.read_until("\n\n"), AllOf(HasSubstr("\"attempt\":2"), HasSubstr("again")));
  EXPECT_TRUE(wire.is_over());
  EXPECT_THAT(service.calls(),
              ElementsAre("output of attempt 1 from 0", "output of attempt 1 from 16"));
}

TEST(OutputQueryTest, AnOffsetIsOfItsAttempt) {
  const OutputQuery any{.offset = 16}, first{.attempt = 1, .offset = 16};
  EXPECT_EQ(any.offset_in(2), 16U);
  EXPECT_EQ(first.offset_in(1), 16U);
  EXPECT_EQ(first.offset_in(2), 0U);
}

TEST_F(FeedTest, AnErrorIsAnEventOfItsOwn) {
  service.error = Error{Errc::kNotFound, "no job j-9"};
  Wire wire = follow("/v1/jobs/j-9/output?follow=1");
  EXPECT_THAT(wire.read_until("\n\n"), AllOf(StartsWith("event: error\ndata: {"),
                                             HasSubstr("no job j-9"), HasSubstr("not_found")));
  EXPECT_TRUE(wire.is_over());
}

}  // namespace
}  // namespace hostler::api

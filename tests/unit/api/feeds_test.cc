#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// Streams: what came before, what comes, and how they end.
namespace hostler::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
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
    out.event = "submitted";
    return out;
  }
};

TEST_F(FeedTest, EventsBeginAfterTheCursorAndCarryTheNext) {
  service.ledger = {record(1), record(2), record(3)};
  Wire wire = follow("/v1/events?after=1");
  EXPECT_THAT(wire.read_until("\n\n"), AllOf(StartsWith("id: 2\n"), HasSubstr("\"j-2\"")));
  EXPECT_THAT(wire.read_until("\n\n"), StartsWith("id: 3\n"));
}

TEST_F(FeedTest, OutputEndsWhenItIsComplete) {
  service.output_part.data = "all of it";
  service.output_part.complete = true;
  Wire wire = follow("/v1/jobs/j-1/output?follow=1");
  EXPECT_THAT(wire.read_until("\n\n"),
              AllOf(StartsWith("data: "), HasSubstr("all of it"), HasSubstr("\"complete\":true")));
  EXPECT_TRUE(wire.is_over());
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

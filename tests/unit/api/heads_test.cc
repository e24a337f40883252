#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// The start line and the headers of a request.
namespace hostler::api {
namespace {

using HeadTest = ApiTest;

// Bug: such heads were taken, and a proxy in front may read them in another way.
TEST_F(HeadTest, AHeadThatOthersMayReadInAnotherWayIsRefused) {
  struct Row {
    std::string headers;
    int status;
    std::string message;
  };
  const std::vector<Row> table{
      {"", 400, "needs the header Host"},
      {"Host: a\r\nHost: a\r\n", 400, "Host is there twice"},
      {"Host: a\r\nHost: b\r\n", 400, "Host is there twice"},
      {"Host: a, b c\r\n", 400, "no name of a host"},
      {"Host: a/b\r\n", 400, "no name of a host"},
      {"Host: x\r\nX-Note: a\r\n b\r\n", 400, "folded"},
      {"Host: x\r\nX-Note: a\r\n\tb\r\n", 400, "folded"},
      {"Host:\r\n x\r\n", 400, "folded"},
      {"Host: x\r\nExpect: 200-ok\r\n", 417, "Expect: 200-ok"},
      {"Host: x\r\nExpect: 100-continue, 200-ok\r\n", 417, "only '100-continue'"},
      {"Host: x\r\nExpect:\r\n", 417, "only '100-continue'"},
      {"Host: x\r\nExpect: 100-continue\r\nExpect: 200-ok\r\n", 417, "only '100-continue'"},
  };
  for (const Row& row : table) {
    Wire wire = Wire::to_socket(socket);
    (void)wire.send("POST /v1/jobs/j-1/cancel HTTP/1.1\r\n" + row.headers + "\r\n");
    const Reply got = wire.read();
    EXPECT_EQ(got.status, row.status) << row.headers;
    EXPECT_THAT(got.message(), testing::HasSubstr(row.message)) << row.headers;
    EXPECT_TRUE(wire.is_over()) << row.headers;
  }
  EXPECT_THAT(service.calls(), testing::IsEmpty());
}

TEST_F(HeadTest, AHeadThatAllReadInOneWayIsTaken) {
  for (const std::string head :
       {"HTTP/1.0\r\n", "HTTP/1.0\r\nExpect: 200-ok\r\n", "HTTP/1.1\r\nHost:\r\n",
        "HTTP/1.1\r\nHost: [::1]:8080\r\n", "HTTP/1.1\r\nHost: %2Frun%2Fhostler.sock\r\n",
        "HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\n"}) {
    Wire wire = Wire::to_socket(socket);
    (void)wire.send("GET /health " + head + "\r\n");
    EXPECT_EQ(wire.read().status, 200) << head;
  }
}

}  // namespace
}  // namespace hostler::api

#include <fstream>

#include "core/api/handlers.h"
#include "core/api/job_codec.h"
#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// What comes over the socket, good and bad: the real server, a fake daemon behind it.
namespace hostler::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class RequestTest : public ApiTest {
 protected:
  Reply ask(const std::string& method, const std::string& target, const std::string& body = "",
            const std::string& headers = "") {
    return Wire::to_socket(socket).ask(method, target, body, headers);
  }
  Reply submit(const std::string& body) { return ask("POST", "/v1/jobs", body); }
  void still_serves() { EXPECT_EQ(ask("GET", "/health").status, 200); }
};

TEST_F(RequestTest, ASubmitIsAnsweredWithItsIds) {
  const auto got = submit(R"({"jobs": [{"script": "true"}, {"command": ["a", "b"]}]})");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "{\"ids\":[\"j-1\",\"j-2\"]}\n");
  EXPECT_EQ(read_job(*service.submitted().at(1).body)->command.at(1), "b");
}

TEST_F(RequestTest, AnInputThatWasNotUploadedIsNamed) {
  const std::string blob(64, 'a');
  const auto got =
      submit(R"({"jobs": [{"script": "true", "inputs": [{"path": "in.txt", "sha256": ")" + blob +
             R"("}]}]})");
  EXPECT_EQ(got.status, 400);
  EXPECT_THAT(got.body, testing::HasSubstr("input 'in.txt': blob " + blob + " was not uploaded"));
  EXPECT_TRUE(service.submitted().empty());
}

TEST_F(RequestTest, EveryBadBodyIsRefusedWithWhatIsWrongAndWhere) {
  struct Row {
    std::string body;
    std::string path;     ///< Of the answer.
    std::string message;  ///< Somewhere in the answer's.
  };
  const std::vector<Row> table{
      {"{", "", "1:"},
      {"", "", "1:"},
      {"jobs", "", "1:1"},
      {R"({"jobs": [}]})", "jobs", "1:"},
      {R"({"jobs": []} x)", "", "1:"},
      {R"({"jobs": [{"script": "true"}]},)", "", "1:"},
      {"\xff\xfe\x00", "", "1:"},
      {"[]", "", "object"},
      {"null", "", "object"},
      {R"("jobs")", "", "object"},
      {"{}", "jobs", "jobs"},
      {R"({"jobs": 7})", "jobs", "found 7"},
      {R"({"jobs": {}})", "jobs", "array"},
      {R"({"jobs": []})", "jobs", "at least one job"},
      {R"({"jobs": [7]})", "jobs[0]", "found 7"},
      {R"({"jobs": [{}]})", "jobs[0]", "command"},
      {R"({"jobs": [{"script": "a", "command": ["b"]}]})", "jobs[0]", "script"},
      {R"({"jobs": [{"script": "a"}, {"script": "a", "priority": "high"}]})", "jobs[1].priority",
       "high"},
      {R"({"jobs": [{"script": "a", "colour": "red"}]})", "jobs[0].colour", "colour"},
      {R"({"jobs": [{"script": "a"}], "when": "now"})", "when", "when"},
      {R"({"jobs": [{"script": "a", "script": "b"}]})", "jobs[0].script", "twice"},
      {R"({"jobs": [{"script": "a"}], "jobs": []})", "jobs", "twice"},
      {R"({"jobs": [{"script": "a", "needs": {"ram": 7}}]})", "jobs[0].needs.ram", "\"2GiB\""},
      {R"({"jobs": [{"script": "a", "needs": {"vcpus": 1.0005}}]})", "jobs[0].needs.vcpus",
       "three decimals"},
      {R"({"jobs": [{"script": "a", "needs": {"vcpus": 1e99}}]})", "jobs[0].needs.vcpus", "1e99"},
      {R"({"jobs": [{"script": "a", "needs": {"vcpus": -1}}]})", "jobs[0].needs.vcpus", "-1"},
      {R"({"jobs": [{"script": "a", "needs": {"gpus": 0.5}}]})", "jobs[0].needs.gpus", "0.5"},
      {R"({"jobs": [{"script": "a", "needs": {"gpus": {"kind": "a100"}}}]})",
       "jobs[0].needs.gpus.count", "missing"},
      {R"({"jobs": [{"script": "a", "time_limit": "soon"}]})", "jobs[0].time_limit", "soon"},
      {R"({"jobs": [{"script": "a", "env": {"1X": "y"}}]})", "jobs[0].env.1X", "digit"},
      {"{\"jobs\": [{\"script\": \"a\xff\"}]}", "jobs[0]", "UTF-8"},
  };
  for (const Row& row : table) {
    const auto got = submit(row.body);
    EXPECT_EQ(got.status, 400) << row.body;
    EXPECT_EQ(got.code(), "invalid_argument") << row.body;
    EXPECT_EQ(got.path(), row.path) << row.body;
    EXPECT_THAT(got.message(), HasSubstr(row.message)) << row.body;
    EXPECT_EQ(got.headers.at("content-type"), "application/json");
  }
  EXPECT_THAT(service.calls(), IsEmpty());
  still_serves();
}

TEST_F(RequestTest, DeepNestingEndsInAnErrorNotInTheStack) {
  for (const std::string open : {"[", "{\"jobs\":", "{\"jobs\":[{\"env\":"}) {
    std::string body;
    while (body.size() < 8000) body += open;
    const auto got = submit(body);
    EXPECT_EQ(got.status, 413) << open;
    EXPECT_EQ(got.code(), "too_large");
    EXPECT_THAT(got.message(), HasSubstr("deep")) << open;
  }
  still_serves();
}

TEST_F(RequestTest, TooMuchIsRefusedBeforeItIsRead) {
  const auto by_length = submit(std::string(8193, ' '));
  EXPECT_EQ(by_length.status, 413);
  EXPECT_EQ(by_length.code(), "too_large");
  EXPECT_THAT(by_length.message(), HasSubstr("8192 bytes"));

  // A length that nobody promises is counted as it comes.
  Wire wire = Wire::to_socket(socket);
  (void)wire.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "1000\r\n" + std::string(4096, ' ') + "\r\n";
  for (int n = 0; n < 100; ++n)
    if (!wire.send(chunk)) break;
  EXPECT_EQ(wire.read().status, 413);

  const auto many =
      submit(R"({"jobs":[{"script":"a"},{"script":"a"},{"script":"a"},{"script":"a"}]})");
  EXPECT_EQ(many.status, 413);
  EXPECT_EQ(many.path(), "jobs");
  EXPECT_THAT(service.calls(), IsEmpty());
}

// Bug: closing at once reset the connection, and clients that were still sending saw that alone.
TEST_F(RequestTest, AClientThatStillSendsHearsWhyItIsRefused) {
  for (const bool tcp : {false, true}) {
    Wire wire = tcp ? Wire::to_port(server->tcp_port()) : Wire::to_socket(socket);
    (void)wire.send(
        "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n"
        "Authorization: Bearer SubmitSubmit\r\n\r\n");
    const std::string piece(500'000, ' ');
    for (int n = 0; n < 100; ++n) ASSERT_TRUE(wire.send(piece)) << "piece " << n;
    EXPECT_EQ(wire.read().status, 413);
    EXPECT_TRUE(wire.is_over());
  }
}

TEST_F(RequestTest, AHugeLengthIsNotBelieved) {
  for (const std::string length : {"99999999999999999999999", "-1", "9223372036854775807", "x"}) {
    Wire wire = Wire::to_socket(socket);
    (void)wire.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + "\r\n\r\n");
    const auto got = wire.read();
    EXPECT_TRUE(got.status == 400 || got.status == 413) << length << ": " << got.status;
    EXPECT_TRUE(wire.is_over());
  }
  still_serves();
}

// Bug: codings that Beast does not know were passed over, and the body was taken for the next
// request.
TEST_F(RequestTest, ABodyWhoseEndOthersMaySeeElsewhereIsRefused) {
  const std::string chunks = "5\r\n{    \r\n0\r\n\r\n";
  const std::string te = "Transfer-Encoding: ";
  const std::string length = "Content-Length: 5\r\n";
  for (const std::string& headers : {te + "gzip, chunked\r\n",
                                     te + "chunked, gzip\r\n",
                                     te + "gzip\r\n",
                                     te + "identity\r\n",
                                     te + "Chunked\r\n",
                                     te + "chunked;q=1\r\n",
                                     te + "\r\n",
                                     te + "xchunked\r\n",
                                     te + "chunked,\r\n",
                                     te + "\"chunked\"\r\n",
                                     te + "\vchunked\r\n",
                                     te + "chunked\r\n" + te + "chunked\r\n",
                                     te + "identity\r\n" + te + "chunked\r\n",
                                     te + "chunked\r\n" + te + "identity\r\n",
                                     te + "chunked\r\n" + length,
                                     length + te + "chunked\r\n",
                                     length + te + "identity\r\n",
                                     te + "gzip\r\n" + length,
                                     length + "Content-Length: 6\r\n",
                                     length + length,
                                     std::string("Content-Length: 5, 5\r\n"),
                                     std::string("Content-Length: +5\r\n"),
                                     std::string("Transfer-Encoding : chunked\r\n"),
                                     std::string("Content-Length : 5\r\n")})
    for (const std::string method : {"POST", "GET"}) {
      Wire wire = Wire::to_socket(socket);
      (void)wire.send(method + " /v1/jobs HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + chunks +
                      "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
      EXPECT_EQ(wire.read().status, 400) << method << " " << headers;
      EXPECT_TRUE(wire.is_over()) << method << " " << headers;
    }
  EXPECT_THAT(service.calls(), IsEmpty());
  Wire old = Wire::to_socket(socket);
  (void)old.send("POST /v1/jobs HTTP/1.0\r\n" + te + "chunked\r\n\r\n" + chunks);
  EXPECT_EQ(old.read().status, 400);
  still_serves();
}

// Bug: only the second part of the path was looked at, and the body of PUT /x/blobs/y was taken for
// a blob's in size and kept in memory whole.
TEST_F(RequestTest, OnlyABlobMayBeAsLargeAsABlob) {
  const std::string large(70000, 'x');
  EXPECT_EQ(ask("PUT", "/x/blobs/y", large).status, 413);
  EXPECT_EQ(ask("PUT", "/v1/blobs/" + std::string(64, 'a'), std::string(100'000, 'x')).status, 200);
  EXPECT_EQ(ask("PUT", "/v1/blobs/" + std::string(64, 'a'), std::string(100'001, 'x')).status, 413);
}

TEST_F(RequestTest, TheContentTypeDoesNotMatter) {
  for (const std::string type :
       {"application/json", "text/plain", "application/x-www-form-urlencoded", "nonsense"}) {
    const auto got = ask("POST", "/v1/jobs", R"({"jobs": [{"script": "true"}]})",
                         "Content-Type: " + type + "\r\n");
    EXPECT_EQ(got.status, 200) << type;
  }
}

TEST_F(RequestTest, AnUnknownPathIsNamed) {
  for (const std::string path :
       {"/", "/v1", "/v2/jobs", "/v1/job", "/v1/jobs/j-1/nothing", "/health/more"}) {
    const auto got = ask("GET", path);
    EXPECT_EQ(got.status, 404) << path;
    EXPECT_EQ(got.code(), "not_found");
    EXPECT_THAT(got.message(), HasSubstr("nothing is at " + path)) << path;
  }
}

TEST_F(RequestTest, AWrongMethodIsToldWhichAreRight) {
  struct Row {
    std::string method, path, allowed;
  };
  const std::vector<Row> table{
      {"DELETE", "/v1/jobs", "POST, GET"},         {"PUT", "/v1/jobs/j-1", "GET"},
      {"GET", "/v1/jobs/j-1/cancel", "POST"},      {"POST", "/health", "GET"},
      {"PATCH", "/v1/instances/h-1/hold", "POST"}, {"FOO", "/v1/pools", "GET"},
  };
  for (const Row& row : table) {
    // Bug: one that brought a body was told that its body is too large.
    for (const std::string body : {"", "{}"}) {
      const auto got = ask(row.method, row.path, body);
      EXPECT_EQ(got.status, 405) << row.method << " " << row.path << " " << body;
      EXPECT_EQ(got.headers.at("allow"), row.allowed);
      EXPECT_THAT(got.message(),
                  AllOf(HasSubstr(row.path + " takes " + row.allowed), HasSubstr(row.method)));
    }
  }
}

TEST_F(RequestTest, BadIdsAndQueriesAreNamed) {
  std::string deep;
  for (int n = 0; n < 100; ++n) deep += "/a";
  struct Row {
    std::string target, message;
  };
  const std::vector<Row> table{
      {"/v1/jobs/42", "'42' is no job id"},
      {"/v1/jobs/h-1", "'h-1' is no job id"},
      {"/v1/jobs/j-0", "'j-0' is no job id"},
      {"/v1/jobs/j-99999999999999999999", "is no job id"},
      {"/v1/jobs?state=sleeping", "?state=sleeping"},
      {"/v1/jobs?limit=x", "?limit=x"},
      {"/v1/jobs?limit=10001", "?limit=10001"},
      {"/v1/jobs?limit=-1", "?limit=-1"},
      {"/v1/jobs?before=h-1", "?before=h-1"},
      // Bugs: these were taken for what is not given, or for their opposite.
      {"/v1/jobs?before=", "?before="},
      {"/v1/jobs/j-1/output?follow=yes", "?follow=yes"},
      {"/v1/events?follow=", "?follow="},
      {"/v1/events?follow=1&limit=10001", "?limit=10001"},
      {"/v1/jobs/j-1/output?stream=both", "?stream"},
      {"/v1/jobs/j-1/output?offset=-1", "?offset=-1"},
      {"/v1/jobs/j-1/output?attempt=4294967296", "?attempt=4294967296"},
      {"/v1/events?after=x", "?after=x"},
      {"/v1/leases/l-0", "'l-0' is no lease id (such as l-3)"},
      {"/v1/leases/j-1", "'j-1' is no lease id"},
      {"/v1/jobs/l-1", "'l-1' is no job id"},
      {"/v1/leases?state=running", "?state=running: waiting, granting, granted, ending, held or"},
      {"/v1/leases?before=j-1", "?before=j-1"},
      {"/v1/why", "?subject="},
      {"/v1/jobs/%zz", "% escape"},
      {"/v1/jobs/%ff", "UTF-8"},
      {deep, "too long"},
  };
  for (const Row& row : table) {
    const auto got = ask("GET", row.target);
    EXPECT_EQ(got.status, 400) << row.target;
    EXPECT_EQ(got.code(), "invalid_argument");
    EXPECT_THAT(got.message(), HasSubstr(row.message)) << row.target;
  }
  EXPECT_THAT(service.calls(), IsEmpty());
}

TEST_F(RequestTest, WhatIsNoHttpIsToldSo) {
  for (const std::string& text : {std::string("hello\r\n\r\n"), std::string("GET\r\n\r\n"),
                                  std::string("\0\0\0\0\r\n\r\n", 8),
                                  "GET / HTTP/1.1\r\nX: " + std::string(20000, 'x') + "\r\n\r\n",
                                  std::string("SSH-2.0-OpenSSH_9.2\r\n\r\n")}) {
    Wire wire = Wire::to_socket(socket);
    (void)wire.send(text);
    const auto got = wire.read();
    EXPECT_EQ(got.status, 400) << text.substr(0, 20);
    EXPECT_THAT(got.message(), HasSubstr("no HTTP request"));
    EXPECT_TRUE(wire.is_over());
  }
  still_serves();
}

TEST_F(RequestTest, ABodyThatEndsEarlyIsNoRequest) {
  Wire wire = Wire::to_socket(socket);
  (void)wire.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"jobs\":");
  wire.finish_sending();
  const auto got = wire.read();
  EXPECT_EQ(got.status, 400);
  EXPECT_THAT(got.message(), HasSubstr("ended early"));
  EXPECT_THAT(service.calls(), IsEmpty());
}

TEST_F(RequestTest, OneConnectionTakesManyRequests) {
  Wire wire = Wire::to_socket(socket);
  EXPECT_EQ(wire.ask("GET", "/health").status, 200);
  EXPECT_EQ(wire.ask("GET", "/v1/nothing").status, 404);
  EXPECT_EQ(wire.ask("POST", "/v1/jobs", "{").status, 400);
  EXPECT_EQ(wire.ask("HEAD", "/health").body, "");
  const std::string get = "GET /v1/pools HTTP/1.1\r\nHost: x\r\n\r\n";
  (void)wire.send(get + get);
  EXPECT_EQ(wire.read().status, 200);
  EXPECT_EQ(wire.read().status, 200);
}

TEST_F(RequestTest, WaitsToBeToldToContinue) {
  Wire wire = Wire::to_socket(socket);
  const std::string body = R"({"jobs": [{"script": "true"}]})";
  (void)wire.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_THAT(wire.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  (void)wire.send(body);
  EXPECT_EQ(wire.read().status, 200);
}

TEST_F(RequestTest, EachFailureOfTheDaemonHasItsStatus) {
  const std::vector<std::pair<Errc, int>> table{
      {Errc::kInvalidArgument, 400}, {Errc::kForbidden, 403},      {Errc::kNotFound, 404},
      {Errc::kConflict, 409},        {Errc::kTooLarge, 413},       {Errc::kUnavailable, 503},
      {Errc::kOverQuota, 429},       {Errc::kOutcomeUnknown, 503}, {Errc::kMisbehaving, 500},
      {Errc::kInternal, 500},
  };
  for (const auto& [code, status] : table) {
    service.error = Error{code, "because", "jobs[3]"};
    const auto got = ask("POST", "/v1/jobs/j-1/cancel");
    EXPECT_EQ(got.status, status);
    EXPECT_EQ(got.code(), to_string(code));
    EXPECT_EQ(got.message(), "because");
    EXPECT_EQ(got.path(), "jobs[3]");
  }
  EXPECT_EQ(ask("GET", "/health").status, 503);
}

// Bug: a mistyped filter was passed over, and everything was listed.
TEST_F(RequestTest, AQueryKeyThatNobodyReadsIsRefused) {
  const auto answer = ask("GET", "/v1/jobs?sate=failed");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.member("message"), HasSubstr("unknown query key 'sate'"));
  EXPECT_THAT(answer.member("message"), HasSubstr("takes state, name"));
  EXPECT_EQ(ask("GET", "/health?x=1").status, 400);
  EXPECT_EQ(ask("GET", "/v1/jobs?state=failed").status, 200);
}

// Bug: each time that a state was named cost the daemon another list of jobs.
TEST_F(RequestTest, AStateThatIsNamedTwiceIsAskedForOnce) {
  EXPECT_EQ(ask("GET", "/v1/jobs?state=failed,queued,failed,,failed").status, 200);
  EXPECT_THAT(service.calls().back(), testing::StartsWith("jobs failed queued 100 by "));
}

// Bug: the list of ten thousand hosts was written by the loop, which stood still for as long.
TEST(JsonAnswerTest, WhoAnswersWritesNoJson) {
  int written = 0;
  Response got;
  const Answer<int> answer = json_answer<int>([&](Response response) { got = std::move(response); },
                                              [&](json::Writer& w, int value) {
                                                ++written;
                                                w.value(value);
                                              });
  answer(7);
  EXPECT_EQ(written, 0);
  EXPECT_EQ(got.make_body(), "7\n");
}

}  // namespace
}  // namespace hostler::api

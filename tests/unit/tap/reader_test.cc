// Recordings that are good, and those that are damaged.
#include "core/tap/reader.h"

#include <gmock/gmock.h>

#include <vector>

#include "tests/temp_folder.h"

namespace hostler::tap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kHead =
    R"({"recording":1,"set":"west","driver":"ec2","began":"2026-03-01T12:00:00Z"})"
    "\n";
const std::string kEnd = "{\"end\":\"closed\",\"calls\":2}\n";

/// Call `n`, which began at `start` and took `took` microseconds.
std::string call(int n, int start = 0, int took = 5, const std::string& more = "") {
  return R"({"n":)" + std::to_string(n) + R"(,"set":"west","start_us":)" + std::to_string(start) +
         R"(,"took_us":)" + std::to_string(took) +
         R"(,"call":"list","status":"ok","request":{},"records":[])" + more + "}\n";
}

Result<Summary> parse(const std::string& text) {
  return parse_recording(text, "w.jsonl", [](const Line&) { return Result<void>(); });
}
std::string error_of(const std::string& text) {
  const auto read = parse(text);
  return read ? "none" : read.error().message;
}

TEST(ReaderTest, ReadsSessionsCallsAndEnds) {
  std::vector<std::string> seen;
  const auto read = parse_recording(
      kHead + call(1, 10, 20) + call(2, 5, 40) + kEnd + kHead + call(1), "w.jsonl",
      [&](const Line& line) -> Result<void> {
        if (const auto* one = std::get_if<Call>(&line))
          seen.push_back(std::to_string(one->number) + " " + std::to_string(one->end().count()));
        else
          seen.emplace_back(std::holds_alternative<Session>(line) ? "begin" : "end");
        return {};
      });

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(seen, ElementsAre("begin", "1 30000", "2 45000", "end", "begin", "1 5000"));
  EXPECT_EQ(read->first.driver, "ec2");
  EXPECT_EQ(read->calls, 3U);
  EXPECT_FALSE(read->ended) << "the second session was killed";
}

TEST(ReaderTest, CountsTheCallsThatAreMissing) {
  const auto read = parse(kHead + call(3) + call(7) + "{\"end\":\"limit\",\"calls\":8}\n");

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->missing, 6U);
  EXPECT_TRUE(read->ended);
}

TEST(ReaderTest, ACutLastLineIsRefused) {
  EXPECT_EQ(error_of(kHead + call(1) + call(2).substr(0, 30)),
            "w.jsonl, line 3: it is cut: a newline ends each line; remove what is after the last "
            "newline");
  EXPECT_THAT(error_of(""), HasSubstr("w.jsonl, line 1: the recording is empty"));
}

TEST(ReaderTest, AnUnknownVersionIsRefused) {
  std::string head = kHead;
  head.replace(head.find(":1,"), 3, ":2,");

  EXPECT_THAT(error_of(head), HasSubstr("w.jsonl, line 1: recording: found 2, allowed: 1; another "
                                        "hostler has written it"));
}

TEST(ReaderTest, AHugeLineIsRefusedBeforeItIsInMemory) {
  EXPECT_THAT(error_of(kHead + std::string(10'000'000, 'x')),
              HasSubstr("w.jsonl, line 2: it is longer than 65536 bytes"));
  EXPECT_THAT(error_of(kHead + std::string(70'000, ' ') + "\n"), HasSubstr("longer than 65536"));
}

TEST(ReaderTest, ADoubledLineIsRefused) {
  EXPECT_THAT(error_of(kHead + call(1) + call(2) + call(2)),
              HasSubstr("w.jsonl, line 4: n: found call 2 after call 2, allowed: greater numbers"));
}

TEST(ReaderTest, TimesThatGoBackAreRefused) {
  EXPECT_THAT(error_of(kHead + call(1, 100, 50) + call(2, 90, 5)),
              HasSubstr("w.jsonl, line 3: took_us: the call ends"));
  EXPECT_THAT(error_of(kHead + call(1, -1, 50)), HasSubstr("w.jsonl, line 2: start_us: found -1"));
}

TEST(ReaderTest, CallsOutsideOfASessionAreRefused) {
  EXPECT_THAT(error_of(call(1)), HasSubstr("w.jsonl, line 1: no recording begins so"));
  EXPECT_THAT(error_of(kHead + "{\"end\":\"closed\",\"calls\":0}\n" + call(1)),
              HasSubstr("w.jsonl, line 3: a session has ended"));
}

TEST(ReaderTest, AnotherSetIsRefused) {
  std::string other = call(1);
  other.replace(other.find("west"), 4, "east");

  EXPECT_THAT(error_of(kHead + other), HasSubstr("line 2: set: found \"east\", allowed: \"west\""));
}

TEST(ReaderTest, WhatIsNoCallIsRefused) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = call(1);
    text.replace(text.find(from), from.size(), to);
    return error_of(kHead + text);
  };

  EXPECT_THAT(with("\"list\"", "\"fly\""), HasSubstr("line 2: call: found \"fly\", allowed"));
  EXPECT_THAT(with("\"ok\"", "\"bad\""), HasSubstr("line 2: error: missing, but required"));
  EXPECT_THAT(with("\"request\":{}", "\"request\":7"), HasSubstr("request: found 7, allowed"));
  EXPECT_THAT(with("\"records\":[]", "\"records\":[7]"), HasSubstr("records[0]: found 7"));
  EXPECT_THAT(error_of(kHead + "nonsense\n"), HasSubstr("w.jsonl, line 2: "));
}

TEST(ReaderTest, TheErrorOfTheUserEndsTheReading) {
  int lines = 0;
  const auto read =
      parse_recording(kHead + call(1) + call(2), "w.jsonl", [&](const Line&) -> Result<void> {
        if (++lines == 2) return fail(Errc::kInvalidArgument, "enough");
        return {};
      });

  EXPECT_EQ(read.error().message, "enough");
  EXPECT_EQ(lines, 2);
}

TEST(ReaderTest, AFileIsReadInPiecesAndAPipeIsNone) {
  const test::TempFolder folder;
  std::string text = kHead;
  const std::string long_one = ",\"gone\":[\"" + std::string(50'000, 'x') + "\"]";
  for (int n = 1; n <= 20; ++n) text += call(n, 0, n, n % 2 == 0 ? "" : long_one);
  const auto each = [](const Line&) { return Result<void>(); };

  const auto read = read_recording(folder.put("good", text), each);
  EXPECT_THAT(read_recording(folder / "missing", each).error().message, HasSubstr("missing"));
  EXPECT_THAT(read_recording(folder.path(), each).error().message, HasSubstr("no regular file"));

  EXPECT_FALSE(read) << "a text of 50,000 bytes is longer than an id";
  EXPECT_THAT(read.error().message, HasSubstr("line 2: gone[0]"));
}

TEST(ReaderTest, MoneyIsExact) {
  const auto parsed = json::Document::parse(R"({"a": 0.000125, "b": -1, "c": "x"})");

  EXPECT_EQ(money_of(parsed->root(), "a"), model::Micros{125});
  EXPECT_EQ(money_of(parsed->root(), "b"), std::nullopt);
  EXPECT_EQ(money_of(parsed->root(), "c"), std::nullopt);
  EXPECT_EQ(money_of(parsed->root(), "d"), std::nullopt);
}

}  // namespace
}  // namespace hostler::tap

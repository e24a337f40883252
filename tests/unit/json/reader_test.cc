#include "core/json/reader.h"

#include <gmock/gmock.h>

#include "core/json/writer.h"

namespace hostler::json {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// Every message that reading `text` gives.
std::vector<std::string> problems_of(std::string_view text,
                                     const std::function<void(Object&)>& members) {
  const auto document = Document::parse(text);
  if (!document) return {document.error().message};
  Problems problems;
  Field(document->root(), problems).object(members);
  std::vector<std::string> out;
  for (const Error& error : problems.list()) out.push_back(error.message);
  return out;
}

enum class Color { kRed, kBlue };
constexpr std::array kColors{Word<Color>{"red", Color::kRed}, Word<Color>{"blue", Color::kBlue}};

TEST(ReaderTest, ReadsEveryType) {
  bool flag = false;
  int count = 0;
  double factor = 0;
  std::int64_t price = 0;
  std::string text, name, raw;
  Duration wait{};
  std::int64_t size = 0;
  Color color{};
  std::vector<std::string> names;

  const auto problems = problems_of(
      R"({"flag": true, "count": -3, "factor": 1.5, "price": 0.123, "text": "a b", "name": "x-1",
          "wait": "10m", "size": "2GiB", "color": "blue", "names": ["a", "b"],
          "raw": {"k": [1.50, "é"]}})",
      [&](Object& o) {
        EXPECT_TRUE(o.need("flag").boolean(flag));
        EXPECT_TRUE(o.need("count").integer(count, -5, 5));
        EXPECT_TRUE(o.need("factor").number(factor, 1, 2));
        EXPECT_TRUE(o.need("price").millionths(price, 0, 1'000'000));
        EXPECT_TRUE(o.need("text").text(text));
        EXPECT_TRUE(o.need("name").name(name));
        EXPECT_TRUE(o.need("wait").duration(wait, 1s, 1h));
        EXPECT_TRUE(o.need("size").size(size, 0, std::int64_t{1} << 40));
        EXPECT_TRUE(o.need("color").word(color, kColors));
        EXPECT_TRUE(o.need("names").names(names, 2));
        EXPECT_TRUE(o.need("raw").object_text(raw, 100));
        EXPECT_FALSE(o.may("absent").boolean(flag));
      });

  EXPECT_THAT(problems, ElementsAre());
  EXPECT_TRUE(flag);
  EXPECT_EQ(count, -3);
  EXPECT_EQ(factor, 1.5);
  EXPECT_EQ(price, 123'000);
  EXPECT_EQ(wait, Duration(10min));
  EXPECT_EQ(size, std::int64_t{2} << 30);
  EXPECT_EQ(color, Color::kBlue);
  EXPECT_THAT(names, ElementsAre("a", "b"));
  EXPECT_EQ(raw, R"({"k":[1.50,"é"]})");
}

TEST(ReaderTest, SaysPathPlaceFoundAndAllowed) {
  double price = 0;
  const auto problems =
      problems_of("{\"pools\": [{\"types\": [{}, {}, {\"price\": \"cheap\"}]}]}", [&](Object& o) {
        o.need("pools").each(9, [&](const Field& pool) {
          pool.object([&](Object& p) {
            p.need("types").each(9, [&](const Field& type) {
              type.object([&](Object& t) { t.may("price").number(price, 0, 10); });
            });
          });
        });
      });

  EXPECT_THAT(problems, ElementsAre("pools[0].types[2].price: found \"cheap\", allowed: a number "
                                    "from 0 to 10 (at 1:41)"));
}

// Bug: the refused "30s" was named as an example, and "1 m" as a limit, which is no duration.
TEST(ReaderTest, LimitsAndExamplesCanBeUsedAsTheyArePrinted) {
  Duration hold{};
  std::int64_t size = 0;
  EXPECT_THAT(problems_of(R"({"hold": "30s", "size": "1KiB"})",
                          [&](Object& o) {
                            o.may("hold").duration(hold, 1min, 168h);
                            o.may("size").size(size, 1 << 20, std::int64_t{3} << 29);
                          }),
              ElementsAre(HasSubstr("found \"30s\", allowed: a duration from 1m to 7d, e.g. "
                                    "\"10m\", \"2h\" (at"),
                          HasSubstr("allowed: a size from 1MiB to 1536MiB, e.g. \"512MiB\" (at")));
}

// Bug: a newline was shown as a blank.
TEST(ReaderTest, ControlCharactersInARefusedTextAreShown) {
  std::string group;
  EXPECT_THAT(problems_of(R"({"group": "a\nb\u0007"})",
                          [&](Object& o) { o.may("group").text(group, {.one_line = true}); }),
              ElementsAre(HasSubstr(R"(found "a\nb\u0007", allowed: one line)")));
}

TEST(ReaderTest, NamesAllProblemsAndLeavesTargetsAlone) {
  int count = 7;
  Color color = Color::kBlue;
  Duration wait = 5s;
  std::string name = "kept";
  const auto problems =
      problems_of(R"({"count": 1.0, "color": "green", "wait": 10, "name": "No Name", "extra": 1})",
                  [&](Object& o) {
                    o.may("count").integer(count, 0, 9);
                    o.may("color").word(color, kColors);
                    o.may("wait").duration(wait, 1s, 1h);
                    o.may("name").name(name);
                    o.need("gone").name(name);
                  });

  EXPECT_THAT(
      problems,
      ElementsAre(
          HasSubstr("count: found 1.0, allowed: a whole number from 0 to 9"),
          HasSubstr("color: found \"green\", allowed: red, blue"),
          HasSubstr("wait: found 10, allowed: a duration from 1s to 1h, e.g. \"30s\", \"10m\""),
          HasSubstr("name: found \"No Name\", allowed: a name"),
          HasSubstr("gone: missing, but required"),
          HasSubstr("extra: unknown key; known here: count, color, wait, name, gone")));
  EXPECT_EQ(count, 7);
  EXPECT_EQ(color, Color::kBlue);
  EXPECT_EQ(wait, Duration(5s));
  EXPECT_EQ(name, "kept");
}

TEST(ReaderTest, KeepsRangesAtTheirEnds) {
  for (const char* text : {"[0]", "[10]", "[99999999999999999999]", "[-1]", "[true]", "[null]"}) {
    const auto document = Document::parse(text);
    ASSERT_TRUE(document);
    Problems problems;
    int out = 5;
    Field(document->root(), problems).each(1, [&](const Field& f) { f.integer(out, 1, 9); });
    EXPECT_EQ(problems.list().size(), 1U) << text;
    EXPECT_EQ(out, 5) << text;
  }
  int low = 0, high = 0;
  EXPECT_TRUE(read_object(R"({"low": 1, "high": 9})", {}, [&](Object& o) {
    o.need("low").integer(low, 1, 9);
    o.need("high").integer(high, 1, 9);
  }));
  EXPECT_EQ(low + high, 10);
}

TEST(ReaderTest, NeedsUnits) {
  Duration wait{};
  std::int64_t size = 0;
  EXPECT_THAT(problems_of(R"({"w": "10", "s": "10"})",
                          [&](Object& o) {
                            o.may("w").duration(wait, 0s, 1h);
                            o.may("s").size(size, 0, 100);
                          }),
              ElementsAre(HasSubstr("needs a unit (units: ns us ms s m h d)"),
                          HasSubstr("needs a unit (units: B KiB")));
}

TEST(ReaderTest, BoundsStringsArraysAndObjects) {
  std::string text;
  std::vector<std::string> list;
  const auto problems = problems_of(
      R"({"long": "abcd", "empty": "", "lines": "a\nb", "nul": "a\u0000", "list": ["a", "b"],
          "twice": ["a", "a"], "map": {"a": 1, "b": 2}})",
      [&](Object& o) {
        o.may("long").text(text, {.bytes_max = 3});
        o.may("empty").text(text, {.bytes_min = 1});
        o.may("lines").text(text, {.one_line = true});
        o.may("nul").text(text);
        o.may("list").texts(list, 1);
        o.may("twice").names(list, 9);
        o.may("map").members(1, [](std::string_view, const Field&) { FAIL(); });
      });

  EXPECT_THAT(problems,
              ElementsAre(HasSubstr("long: found a string of 4 bytes, allowed: at most 3"),
                          HasSubstr("empty: found \"\", allowed: a string that is not"),
                          HasSubstr("lines: found \"a\\nb\", allowed: one line"),
                          HasSubstr("without U+0000"),
                          HasSubstr("list: found an array of 2, allowed: at most 1"),
                          HasSubstr("twice[1]: found \"a\" twice"),
                          HasSubstr("map: found an object of 2 members")));
}

TEST(ReaderTest, DoesNotQuoteSecrets) {
  std::string text;
  const auto problems = problems_of(R"({"a": "pass\nword"})", [&](Object& o) {
    o.may("a").text(text, {.one_line = true, .secret = true});
  });

  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0], testing::Not(HasSubstr("pass")));
}

TEST(ReaderTest, WantsExactlyOneOfAlternatives) {
  const auto pick = [](std::string_view text) {
    std::string found;
    const auto problems = problems_of(text, [&](Object& o) {
      found = o.exactly_one({"command", "script"});
    });
    return problems.empty() ? found : problems[0];
  };

  EXPECT_EQ(pick(R"({"script": 1})"), "script");
  EXPECT_THAT(pick(R"({})"), HasSubstr("found none, allowed: exactly one of command, script"));
  EXPECT_THAT(pick(R"({"script": 1, "command": 2})"), HasSubstr("found more than one"));
}

TEST(ReaderTest, GivesTheFirstProblemAndCountsTheRest) {
  const auto result = read_object(R"({"a": 1, "b": 2})", {}, [](Object&) {});

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().path, "a");
  EXPECT_THAT(result.error().message,
              HasSubstr("a: unknown key; known here: none (at 1:7); and 1 more"));
  EXPECT_THAT(read_object("[]", {}, [](Object&) {}).error().message,
              HasSubstr("found an array of 0, allowed: an object (at 1:1)"));
}

TEST(ReaderTest, ReadsNoFurtherThanItKeepsProblems) {
  std::string text = "[0";
  for (int i = 1; i < 1000; ++i) text += "," + std::to_string(i);
  const auto document = Document::parse(text + "]");
  ASSERT_TRUE(document);
  Problems problems;
  int asked = 0;
  Field(document->root(), problems).each(1000, [&](const Field& element) {
    ++asked;
    element.refuse("a string");
  });
  EXPECT_TRUE(problems.full());
  EXPECT_EQ(asked, 100);
  EXPECT_EQ(problems.list().size(), 100u);
}

/// The text of each element as it was read, then the error if there is one.
std::vector<std::string> elements_of(std::string_view text, std::size_t max = 100,
                                     std::size_t bytes_max = 1000,
                                     const ParseOptions& options = {}) {
  std::vector<std::string> seen;
  const auto result =
      read_object(text, options,
                  {"jobs", max, bytes_max,
                   [&](const Field& one) {
                     seen.push_back(to_text(*one.value()) + one.value()->path());
                     return one.value()->is(Kind::kObject) || one.refuse("an object") || true;
                   }},
                  [](Object& o) { o.need("jobs").each(100, [](const Field&) {}); });
  if (!result) seen.push_back(result.error().message);
  return seen;
}

TEST(EachElementTest, IsReadWhileTheTextIsParsed) {
  EXPECT_THAT(
      elements_of(R"({"jobs": [{"a": ["b"]}, {}, {"c": {"jobs": [1]}}]})"),
      testing::ElementsAre(R"({"a":["b"]}jobs[0])", "{}jobs[1]", R"({"c":{"jobs":[1]}}jobs[2])"));
  EXPECT_THAT(elements_of(R"({"jobs": [], "more": [{}]})"),
              testing::ElementsAre(HasSubstr("more: unknown key")));
  EXPECT_THAT(elements_of(R"([{"jobs": [{}]}])"),
              testing::ElementsAre(HasSubstr("found an array of 1, allowed: an object")));
  EXPECT_THAT(elements_of(R"({"jobs": {"jobs": [{}]}})"),
              testing::ElementsAre(HasSubstr("jobs: found an object, allowed: an array")));
}

// Bug: all of them were in memory before one was looked at, at many times the size of the text.
TEST(EachElementTest, ManyWrongOnesAreNotAllRead) {
  std::string text = R"({"jobs": [1)";
  for (int i = 0; i < 1000; ++i) text += ",1";
  const auto seen = elements_of(text + "]}", 10'000, 1000, {.values_max = 10});
  EXPECT_EQ(seen.size(), 101U);
  EXPECT_THAT(seen.back(), HasSubstr("jobs[0]: found 1, allowed: an object"));
  EXPECT_THAT(seen.back(), HasSubstr("99 more"));
}

TEST(EachElementTest, HaveLimitsOfTheirOwn) {
  EXPECT_THAT(elements_of(R"({"jobs": [{}, {}, {}]})", 2).back(),
              HasSubstr("jobs: found an array of more than 2"));
  EXPECT_THAT(elements_of(R"({"jobs": [{}], "jobs": [{}]})").back(), HasSubstr("occurs twice"));
  EXPECT_THAT(elements_of(R"({"jobs": [{}], "jobs": [{}, {}]})", 2).back(),
              HasSubstr("more than 2"));
  const std::string many = R"({"jobs": [{"a": [1,2,3,4,5,6,7,8]}]})";
  EXPECT_THAT(elements_of(many, 2, 1000, {.values_max = 8}).back(),
              HasSubstr("more than 8 values"));
  const std::string large = "\"" + std::string(1001, 'x') + "\"";
  for (const std::string& text :
       {R"({"jobs": [)" + large + "]}", R"({"jobs": [{"a": )" + large + "}]}", "{" + large + ": 1}",
        R"({"a": )" + large + "}", "{" + std::string(1001, ' ') + "}"})
    EXPECT_THAT(elements_of(text).back(), HasSubstr("a value of more than 1000 bytes"));
}

TEST(EachElementTest, TogetherMayBeLargerThanOneMayBe) {
  std::string text = R"({"jobs": [{"a": "0123456789"})";
  for (int i = 1; i < 100; ++i) text += R"(, {"a": "0123456789"})";
  const auto seen = elements_of(text + "]}" + std::string(5000, ' '), 100, 50, {.values_max = 10});
  EXPECT_EQ(seen.size(), 100U);
  EXPECT_THAT(seen.back(), HasSubstr("jobs[99]"));
  EXPECT_THAT(elements_of(text + "]} x", 100, 50).back(), HasSubstr("not JSON"));
  EXPECT_THAT(elements_of(text, 100, 50).back(), HasSubstr("not JSON"));
}

}  // namespace
}  // namespace hostler::json

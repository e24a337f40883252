#include "core/json/document.h"

#include <gmock/gmock.h>

namespace hostler::json {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text, const ParseOptions& options = {}) {
  const auto document = Document::parse(text, options);
  return document ? "parsed" : document.error().message;
}

TEST(DocumentTest, KeepsEveryKindOfValue) {
  const auto document =
      Document::parse(R"({"a": [1, -2.5e3, "x\u00e9\n", true, null], "b": {"c": {}}})");
  ASSERT_TRUE(document) << document.error().message;

  const Value root = document->root();
  EXPECT_EQ(root.size(), 2U);
  std::string texts;
  for (const Value v : root.at("a").children()) texts += std::string(v.text()) + "|";
  EXPECT_EQ(texts, "1|-2.5e3|x\xc3\xa9\n|true|null|");
  EXPECT_TRUE(root.at("b").at("c").is(Kind::kObject));
  EXPECT_TRUE(root.at("b").at("nothing").at("at all").is(Kind::kNull));
}

TEST(DocumentTest, KnowsPathAndPlaceOfEveryValue) {
  const auto document = Document::parse(
      "{\"pools\": [\n  {\"types\": [\"a\\\"b\", {\"odd key\": 12.50}]},\n  [ ], true]}");
  ASSERT_TRUE(document) << document.error().message;

  std::vector<std::string> seen;
  const std::function<void(Value)> walk = [&](Value v) {
    seen.push_back(v.path() + " " + v.position());
    for (const Value child : v.children()) walk(child);
  };
  walk(document->root());

  EXPECT_THAT(seen, testing::ElementsAre(
                        " 1:1", "pools 1:11", "pools[0] 2:3", "pools[0].types 2:13",
                        "pools[0].types[0] 2:14", "pools[0].types[1] 2:22",
                        "pools[0].types[1][\"odd key\"] 2:34", "pools[1] 3:3", "pools[2] 3:8"));
}

TEST(DocumentTest, SaysLineAndColumnOfWhatIsNoJson) {
  EXPECT_THAT(error_of("{\n  \"a\": 1,\n  \"b\" 2\n}"), HasSubstr("(at 3:7)"));
  EXPECT_THAT(error_of("{\"a\": [1, 2}"), HasSubstr("a: not JSON: "));
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("{} {}"), HasSubstr("(at 1:4)"));
  EXPECT_THAT(error_of("[1,]"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of("[NaN]"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of("[01]"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of("[1e999999999999]"), testing::Ne("parsed"));
}

TEST(DocumentTest, RefusesAKeyThatIsThereTwice) {
  EXPECT_EQ(error_of(R"({"a": {"x": 1, "y": 2, "x": 3}})"),
            "a.x: the key occurs twice, allowed once (at 1:29)");
}

TEST(DocumentTest, RefusesBytesThatAreNoUtf8) {
  EXPECT_THAT(error_of("[\"\xff\"]"), HasSubstr("UTF-8 (at 1:2)"));
  EXPECT_THAT(error_of("{\"\xc0\x80\": 1}"), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of(R"(["\udc00"])"), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of(R"(["\ud800"])"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(std::string_view("[1]\0[", 5)), HasSubstr("NUL byte (at 1:4)"));
}

TEST(DocumentTest, AllowsCommentsOnlyWhenAsked) {
  const std::string text = "// all of it\n{\"a\": 1 /* one */ }\n";

  EXPECT_THAT(error_of(text), HasSubstr("not JSON"));
  EXPECT_EQ(error_of(text, {.comments = true}), "parsed");
}

TEST(DocumentTest, RefusesDeepNestingWhateverItsDepth) {
  for (const std::string_view bracket : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += bracket;
    const auto document = Document::parse(text, {.bytes_max = std::size_t{1} << 30U});
    ASSERT_FALSE(document);
    EXPECT_EQ(document.error().code, Errc::kTooLarge);
    EXPECT_THAT(document.error().message, HasSubstr("nested too deeply; at most 32"));
  }
  EXPECT_EQ(error_of(std::string(32, '[') + std::string(32, ']')), "parsed");
  EXPECT_NE(error_of(std::string(33, '[') + std::string(33, ']')), "parsed");
}

TEST(DocumentTest, RefusesTooManyBytesAndTooManyValues) {
  EXPECT_THAT(error_of("[1,2,3]", {.bytes_max = 6}), HasSubstr("JSON of 7 bytes; at most 6"));
  EXPECT_THAT(error_of("[1,2,3]", {.values_max = 3}), HasSubstr("more than 3 values (at 1:6)"));
  EXPECT_EQ(error_of("[1,2,3]", {.bytes_max = 7, .values_max = 4}), "parsed");
}

TEST(DocumentTest, ReadsItsOwnKindLenientlyWithDefaults) {
  const auto document = Document::parse(R"({"n": 7, "t": "x", "b": true})");
  ASSERT_TRUE(document);
  const Value root = document->root();

  EXPECT_EQ(root.at("n").int_or(1), 7);
  EXPECT_EQ(root.at("t").int_or(1), 1);
  EXPECT_EQ(root.at("t").text_or("y"), "x");
  EXPECT_EQ(root.at("none").text_or("y"), "y");
  EXPECT_TRUE(root.at("b").bool_or(false));
  EXPECT_TRUE(root.has("n"));
  EXPECT_FALSE(root.has("none"));
}

}  // namespace
}  // namespace hostler::json

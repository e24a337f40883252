#include "core/json/pointer.h"

#include <gtest/gtest.h>

#include <string>

namespace hostler::json {
namespace {

std::string found(const std::string& text, const std::string& pointer) {
  const auto document = Document::parse(text);
  const auto value = at_pointer(document.value().root(), pointer);
  return value ? std::string(value->text()) : "error: " + value.error().message;
}

TEST(PointerTest, LeadsToMembersAndElements) {
  EXPECT_EQ(found("7", ""), "7");
  EXPECT_EQ(found(R"({"a": [1, {"b": 5}]})", "/a/1/b"), "5");
  EXPECT_EQ(found(R"({"": 3, "a": {"": 4}})", "/"), "3");
  EXPECT_EQ(found(R"({"": 3, "a": {"": 4}})", "/a/"), "4");
}

TEST(PointerTest, KnowsEscapedCharacters) {
  EXPECT_EQ(found(R"({"a/b": 1, "m~n": 2, "~1": 3})", "/a~1b"), "1");
  EXPECT_EQ(found(R"({"a/b": 1, "m~n": 2, "~1": 3})", "/m~0n"), "2");
  EXPECT_EQ(found(R"({"a/b": 1, "m~n": 2, "~1": 3})", "/~01"), "3");
}

TEST(PointerTest, SaysWhereThePathEnds) {
  EXPECT_EQ(found(R"({"a": [1]})", "/b"), "error: there is no b in the document");
  EXPECT_EQ(found(R"({"a": [1]})", "/a/1"), "error: there is no 1 in a");
  EXPECT_EQ(found(R"({"a": [1]})", "/a/00"), "error: there is no 00 in a");
  EXPECT_EQ(found(R"({"a": [1]})", "/a/-"), "error: there is no - in a");
  EXPECT_EQ(found(R"({"a": [1]})", "/a/0/c"), "error: there is no c in a[0]");
}

TEST(PointerTest, RefusesWhatIsNoPointer) {
  EXPECT_EQ(found("{}", "a"), "error: a JSON pointer begins with \"/\", as in \"/data/0/value\"");
  for (const char* bad : {"/a~", "/~2", "/~~0"}) EXPECT_FALSE(check_pointer(bad)) << bad;
  EXPECT_TRUE(check_pointer("/a~0~1"));
}

}  // namespace
}  // namespace hostler::json

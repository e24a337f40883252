#include "core/sources/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hostler::sources {
namespace {

std::string error_of(const std::string& text, const std::string& pointer = "") {
  const auto number = number_at(text, pointer, "the answer");
  return number ? "none" : number.error().message;
}

TEST(NumberTest, ReadsValuesAsPrometheusWritesThem) {
  EXPECT_EQ(parse_number("1.5e+06"), 1.5e6);
  EXPECT_EQ(parse_number("-0.25"), -0.25);
  EXPECT_EQ(parse_number("+Inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_number("-Inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parse_number("NaN").value()));
}

TEST(NumberTest, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "+", "+-1", "1 ", " 1", "1x", "0x10", "1,5", "1e999", "--1"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

TEST(NumberTest, FindsANumberInJson) {
  EXPECT_EQ(number_at("42\n", "", "it").value(), 42);
  EXPECT_EQ(number_at(R"({"q": {"depth": [1, 2.5]}})", "/q/depth/1", "it").value(), 2.5);
}

TEST(NumberTest, SaysWhatWasFoundInPlaceOfANumber) {
  EXPECT_EQ(error_of(R"({"a": "7"})", "/a"), "the answer has \"7\" at /a, allowed: a number");
  EXPECT_EQ(error_of(R"({"a": true})", "/a"), "the answer has true at /a, allowed: a number");
  EXPECT_EQ(error_of(R"({"a": null})", "/a"), "the answer has null at /a, allowed: a number");
  EXPECT_EQ(error_of("[1, 2]"), "the answer has an array of 2, allowed: a number");
  EXPECT_EQ(error_of(R"({"a": 1})", "/b"), "the answer: there is no b in the document");
  EXPECT_EQ(error_of(" \n"), "the answer is empty");
  EXPECT_EQ(error_of("1e999"),
            "the answer: not JSON: Number too big to be stored in double. (at 1:1)");
}

TEST(NumberTest, RefusesWhatIsNotJson) {
  for (const char* text :
       {"<html>no</html>", "12 files", "NaN", "1.", "0x10", "+5", "007", "{\"a\": 1", "\xff\xfe"})
    EXPECT_EQ(error_of(text).rfind("the answer: not JSON: ", 0), 0U) << text;
}

TEST(NumberTest, RefusesDeepAndHugeDocuments) {
  EXPECT_NE(error_of(std::string(5000, '[')), "none");
  std::string many = "[0";
  for (int i = 0; i < 300'000; ++i) many += ",0";
  EXPECT_NE(error_of(many + "]", "/0"), "none");
}

}  // namespace
}  // namespace hostler::sources

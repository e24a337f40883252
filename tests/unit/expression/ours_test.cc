// What the language has beside expr.
#include <cmath>

#include "tests/unit/expression/expressions.h"

namespace hostler::expression {
namespace {

using Kind = Input::Kind;
using namespace std::chrono_literals;

Input only_input_of(std::string_view text) {
  const auto out = compiled(text);
  EXPECT_TRUE(out) << text << "\n" << (out ? "" : out.error().message);
  return out && out->inputs().size() == 1 ? out->inputs()[0] : Input{};
}

TEST(ExpressionOurs, AgeTakesAMetric) {
  EXPECT_EQ(only_input_of("age(m)"), (Input{Kind::kAge, "m", {}}));
  for (const auto* text : {"age", "age()", "age(1)", "age(foo)", "age(m + 1)", "age('m')",
                           "age(started)", "age(m, 1)", "let v = m; age(v)"})
    EXPECT_NE(refusal_of(text), "") << text;
}

TEST(ExpressionOurs, WindowsTakeAMetricAndATime) {
  EXPECT_EQ(only_input_of("avg_over(m, '1h30m')"), (Input{Kind::kAvgOver, "m", 90min}));
  EXPECT_EQ(only_input_of("max_over(rps, \"90s\")"), (Input{Kind::kMaxOver, "rps", 90s}));
  EXPECT_EQ(only_input_of("max_over(rps, '1d0.5h')"), (Input{Kind::kMaxOver, "rps", 24h + 30min}));
  for (const auto* text :
       {"avg_over(m)", "avg_over(m, 5)", "avg_over(m, '')", "avg_over(m, '5')", "avg_over(m, '0s')",
        "avg_over(m, '-5m')", "avg_over(m, '5 m')", "avg_over(m, '5x')", "avg_over(m, '366d')",
        "avg_over(m, '99999999999999999999d')", "avg_over(m, 'm')", "avg_over('m', '5m')",
        "avg_over(1, '5m')", "max_over(m, let)", "avg_over(m, ['5m'])"})
    EXPECT_NE(refusal_of(text), "") << text;
}

TEST(ExpressionOurs, HoursAndWeekdaysAreOfAZone) {
  EXPECT_EQ(only_input_of("hour('Europe/Berlin')"), (Input{Kind::kHour, "Europe/Berlin", {}}));
  EXPECT_EQ(only_input_of("weekday(\"Etc/GMT-3\")"), (Input{Kind::kWeekday, "Etc/GMT-3", {}}));
  for (const auto* text :
       {"hour", "hour()", "hour(1)", "hour(UTC)", "hour('')", "hour('../zone')", "hour('/UTC')",
        "hour('a b')", "hour('UTC', 1)", "hour('Europe' + '/Berlin')"})
    EXPECT_NE(refusal_of(text), "") << text;
  EXPECT_NE(refusal_of("hour('" + std::string(65, 'a') + "')"), "");
}

TEST(ExpressionOurs, BusinessHoursNeedNoFeatureOfTheirOwn) {
  const auto* const text =
      "weekday('Europe/Berlin') < 6 and hour('Europe/Berlin') in 8..17 ? 5 : 0";
  EXPECT_EQ(value_of(text, {5, 17}), 5);
  EXPECT_EQ(value_of(text, {5, 18}), 0);
  EXPECT_EQ(value_of(text, {6, 12}), 0);
}

TEST(ExpressionOurs, ClampKeepsAValueWithinLimits) {
  EXPECT_EQ(value_of("clamp(m, 1, 5)", {9}), 5);
  EXPECT_EQ(value_of("clamp(m, 1, 5)", {-9}), 1);
  EXPECT_EQ(value_of("clamp(m, 1, 5)", {2.5}), 2.5);
  EXPECT_TRUE(std::isnan(value_of("clamp(m, 1, 5)", {std::nan("")})));
  EXPECT_EQ(value_of("clamp(7, 1, 5) % 2"), 1) << "whole numbers stay whole";
  EXPECT_NE(refusal_of("clamp(7, 1, 5.0) % 2"), "");
}

TEST(ExpressionOurs, ClampRefusesLimitsInTheWrongOrder) {
  EXPECT_NE(refusal_of("clamp(3, m, 1)", {2}).find("above the upper"), std::string::npos);
  EXPECT_NE(refusal_of("clamp(3, 1, m)", {std::nan("")}), "");
  for (const auto* text : {"clamp(1)", "clamp(1, 2)", "clamp(1, 2, 3, 4)", "clamp(true, 1, 2)"})
    EXPECT_NE(refusal_of(text), "") << text;
}

// Bug: the last element of such a range overflowed, which has no meaning in C++.
TEST(ExpressionOurs, ARangeThatWrapsHasTheElementsThatItHasInExpr) {
  const std::string range = "(9223372036854775806..(-9223372036854775807 - 1))";
  EXPECT_EQ(value_of("len" + range), 3);
  EXPECT_EQ(value_of("1.5 in " + range + " ? 1 : 0"), 0);
  for (const char* in : {"9223372036854775807.0", "-9223372036854775808.0"})
    EXPECT_EQ(value_of(in + (" in " + range) + " ? 1 : 0"), 1) << in;
  const std::string unknown_end = " in (9223372036854775806 + int(m))..(-9223372036854775807 - 1)";
  EXPECT_EQ(value_of("-9223372036854775807 - 1" + unknown_end + " ? 1 : 0"), 1);
  EXPECT_EQ(value_of("9223372036854775807" + unknown_end + " ? 1 : 0"), 1);
  EXPECT_EQ(value_of("0" + unknown_end + " ? 1 : 0"), 0);
  EXPECT_EQ(value_of("-9223372036854775807" + unknown_end + " ? 1 : 0"), 0);
}

TEST(ExpressionOurs, CountsStandAlone) {
  EXPECT_NE(refusal_of("started()").find("stands alone"), std::string::npos);
}

TEST(ExpressionOurs, CopiesOfAnExpressionAreIndependent) {
  Expression copy;
  {
    const auto first = compiled("sum([1, 2, m]) + len([3, 4])");
    ASSERT_TRUE(first);
    copy = *first;
  }
  EXPECT_EQ(*copy.evaluate(std::vector{4.0}), 9);
}

}  // namespace
}  // namespace hostler::expression

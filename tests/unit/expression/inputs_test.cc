#include "tests/unit/expression/expressions.h"

namespace hostler::expression {
namespace {

using Kind = Input::Kind;
using namespace std::chrono_literals;

std::vector<Input> inputs_of(std::string_view text, Wants wants = Wants::kNumber) {
  const auto out = compiled(text, wants);
  EXPECT_TRUE(out) << text << "\n" << (out ? "" : out.error().message);
  return out ? out->inputs() : std::vector<Input>{};
}

TEST(ExpressionInputs, AreEachOnceInTheOrderOfTheirFirstUse) {
  const std::vector<Input> wanted{{Kind::kMetric, "rps", {}},
                                  {Kind::kStarted, "", {}},
                                  {Kind::kMetric, "m", {}},
                                  {Kind::kAvgOver, "m", 5min},
                                  {Kind::kAvgOver, "m", 10min}};
  EXPECT_EQ(inputs_of("rps + started * m + rps + avg_over(m, '5m') + avg_over(m, \"10m\") + "
                      "avg_over(m, `300s`)"),
            wanted);
}

/// F-W5: a metric that is unknown makes the result unknown wherever it stands.
TEST(ExpressionInputs, ComprehendBranchesThatAreNotTaken) {
  const std::vector<Input> m{{Kind::kMetric, "m", {}}};
  EXPECT_EQ(inputs_of("true ? 1 : m"), m);
  EXPECT_EQ(inputs_of("1 ?? m"), m);
  EXPECT_EQ(inputs_of("m ?? 1"), m);
  EXPECT_EQ(inputs_of("false and m > 1", Wants::kBoolean), m);
  EXPECT_EQ(inputs_of("m > 1 or true", Wants::kBoolean), m);
  EXPECT_EQ(inputs_of("let unused = m; 1"), m);
}

TEST(ExpressionInputs, OfAConstantAreNone) { EXPECT_TRUE(inputs_of("1 + 2").empty()); }

TEST(ExpressionInputs, AreWholeNumbersWhereTheyCount) {
  EXPECT_EQ(value_of("started % 2 + len(1..queued)", {7, 3}), 4);
  EXPECT_EQ(value_of("created + started + idle + busy + queued", {1, 2, 3, 4, 5}), 15);
}

TEST(ExpressionInputs, LeaveNoNameOfTheLanguageToMetrics) {
  for (const auto* name :
       {"age",  "avg_over", "max_over", "created",  "started",    "idle",     "busy",   "queued",
        "hour", "weekday",  "clamp",    "len",      "abs",        "median",   "filter", "toJSON",
        "now",  "bitushr",  "true",     "false",    "nil",        "let",      "not",    "and",
        "or",   "in",       "matches",  "contains", "startsWith", "endsWith", "$env"})
    EXPECT_TRUE(is_taken(name)) << name;
  for (const auto* name : {"m", "rps", "queue_depth", "hours", "Age", "trueish"})
    EXPECT_FALSE(is_taken(name)) << name;
}

}  // namespace
}  // namespace hostler::expression

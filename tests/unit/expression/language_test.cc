// A taste of the language. tests/expression compares 100,000 texts with expr itself.
#include <cmath>
#include <limits>

#include "tests/unit/expression/expressions.h"

namespace hostler::expression {
namespace {

TEST(ExpressionLanguage, HasThePrecedencesOfExpr) {
  EXPECT_EQ(value_of("1 + 2 * 3 ^ 2"), 19);
  EXPECT_EQ(value_of("-2 ** 2"), -4);
  EXPECT_EQ(value_of("2 ** 3 ** 2"), 512);
  EXPECT_EQ(value_of("8 - 4 - 2"), 2);
  EXPECT_EQ(value_of("1 + m ?? 5 + 2", {4}), 7);
  EXPECT_TRUE(truth_of("not (m > 1) == true and true", {0}));
  EXPECT_TRUE(truth_of("3 in 1..2 + 1"));
}

TEST(ExpressionLanguage, ReadsNumbersAsExprDoes) {
  EXPECT_EQ(value_of("0x2A + 0b101 + 0o17 + 007"), 42 + 5 + 15 + 7);
  EXPECT_EQ(value_of("1_000.5 + .5 + 1. + 1e3"), 2002);
  EXPECT_EQ(value_of("1e-400"), 0);
  EXPECT_EQ(value_of("len(1..3)"), 3);
  for (const auto* text : {"1e400", "9223372036854775808", "0x", "1e", "0b2", "1.2.3", "12abc"})
    EXPECT_NE(refusal_of(text), "") << text;
}

TEST(ExpressionLanguage, SkipsCommentsAndBlanksOfAllKinds) {
  EXPECT_EQ(value_of("1 // one\n + /* two /* */ 2 /***/ + \u00a0 3 // the end"), 6);
  EXPECT_EQ(value_of("m//10", {7}), 7);
}

TEST(ExpressionLanguage, WrapsWholeNumbersAtSixtyFourBits) {
  EXPECT_EQ(value_of("9223372036854775807 + 1"), -0x1p63);
  EXPECT_EQ(value_of("abs(-9223372036854775807 - 1)"), -0x1p63);
  EXPECT_EQ(value_of("(-9223372036854775807 - 1) % int(m)", {-1}), 0);
  EXPECT_EQ(value_of("len(-9223372036854775807..9223372036854775807)"), 0);
}

TEST(ExpressionLanguage, DividesToInfinityAndNaN) {
  EXPECT_EQ(value_of("7 / 2"), 3.5);
  EXPECT_EQ(value_of("1 / 0"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(value_of("m / 0", {0})));
  EXPECT_EQ(value_of("int(m)", {std::nan("")}), -0x1p63);
}

TEST(ExpressionLanguage, RoundsHalvesAwayFromZero) {
  EXPECT_EQ(value_of("round(2.5) + round(-2.5)"), 0);
  EXPECT_EQ(value_of("round(2.5)"), 3);
  EXPECT_EQ(value_of("ceil(1.2) + floor(-1.2) + int(-1.9)"), -1);
}

TEST(ExpressionLanguage, ComputesPowersAsGoToTheLastBit) {
  EXPECT_EQ(value_of("2 ** 0.3"), 1.2311444133449163);
  EXPECT_EQ(value_of("8 ** (1 / 3)"), 0x1.fffffffffffffp0) << "pow() of C says 2";
  EXPECT_EQ(value_of("9 ^ -0.5"), 1.0 / 3);
}

TEST(ExpressionLanguage, LetsBranchesHaveValuesOfDifferentTypes) {
  EXPECT_EQ(value_of("(m > 1 ? 3 : 3.5) % 2", {2}), 1);
  EXPECT_NE(refusal_of("(m > 1 ? 3 : 3.5) % 2", {0}), "");
  EXPECT_EQ(value_of("let a = m > 1 ? [1, 2] : 1..9; len(a)", {0}), 9);
}

TEST(ExpressionLanguage, TakesWhatDecidesFirst) {
  EXPECT_TRUE(truth_of("m > 1 or 1 % int(m) == 0", {2}));
  EXPECT_FALSE(truth_of("m > 1 and 1 % int(m) == 0", {0}));
  EXPECT_EQ(value_of("m == 0 ? 0 : 5 % int(m)", {0}), 0);
}

TEST(ExpressionLanguage, FindsNumbersInArraysAndRanges) {
  EXPECT_TRUE(truth_of("m in 8..17", {8}));
  EXPECT_FALSE(truth_of("m in 8..17", {8.5}));
  EXPECT_TRUE(truth_of("m not in [1, 2.5]", {2}));
  EXPECT_TRUE(truth_of("m in 9007199254740993..9007199254740995", {0x1p53}));
}

TEST(ExpressionLanguage, SummarisesArraysAndRanges) {
  EXPECT_EQ(value_of("sum([]) + mean([]) + median([])"), 0);
  EXPECT_EQ(value_of("sum(1..100) + mean(1..4) + median(1..4)"), 5055);
  EXPECT_EQ(value_of("median([m, 5, 1])", {9}), 5);
  EXPECT_EQ(value_of("mean(4611686018427387904..4611686018427387905)"), 0x1p62);
  EXPECT_EQ(value_of("max(1, 2.5, m) - min(3, 2)", {2}), 0.5);
}

/// F-W3: what is too large for a whole number stays a float that its reader can bound.
TEST(ExpressionLanguage, GivesHugeNumbersAsTheyAre) {
  EXPECT_EQ(value_of("m * 1e30", {1e9}), 1e9 * 1e30);
  EXPECT_EQ(value_of("2 ** 64"), 0x1p64);
}

}  // namespace
}  // namespace hostler::expression

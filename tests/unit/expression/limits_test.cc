#include "tests/unit/expression/expressions.h"

namespace hostler::expression {
namespace {

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

TEST(ExpressionLimits, TextHasAtMostEightKiB) {
  EXPECT_EQ(value_of("1" + std::string(8191, ' ')), 1);
  const auto out = result_of("1" + std::string(8192, ' '));
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Errc::kTooLarge);
}

TEST(ExpressionLimits, DepthIsBoundedWhateverMakesIt) {
  EXPECT_EQ(value_of(repeated("(", 63) + "1" + repeated(")", 63)), 1);
  for (const auto* part :
       {"(", "[", "-", "not ", "abs(", "2**", "1?", "1?1:", "let a=1;", "max(1,", "true?:"})
    EXPECT_NE(refusal_of(repeated(part, 8000 / std::string_view(part).size()) + "1"), "") << part;
  EXPECT_NE(refusal_of(repeated("(", 64) + "1" + repeated(")", 64)).find("64 deep"),
            std::string::npos);
}

TEST(ExpressionLimits, StepsAreBounded) {
  EXPECT_EQ(value_of("m" + repeated("+m", 499), {2}), 1000);
  EXPECT_NE(refusal_of("m" + repeated("+m", 500)).find("1,000"), std::string::npos);
  EXPECT_NE(refusal_of("[" + repeated("1,", 4000) + "1]"), "");
}

/// `a ?: b` computes a twice, so each further one in parentheses doubles the program.
TEST(ExpressionLimits, ProgramsThatGrowByCopiesAreBounded) {
  EXPECT_NE(refusal_of(repeated("(", 40) + "m > 0" + repeated(" ?: true)", 40) + " ? 1 : 2")
                .find("steps"),
            std::string::npos);
}

TEST(ExpressionLimits, RangesHaveTheBudgetOfExpr) {
  EXPECT_EQ(value_of("len(1..999999)"), 999999);
  EXPECT_NE(refusal_of("len(1..1000000)"), "");
  EXPECT_NE(refusal_of("len(1..600000) + len(1..600000)"), "");
  EXPECT_EQ(value_of("m == 0 ? len(1..600000) : len(1..600000)", {0}), 600000);
  EXPECT_EQ(value_of("5 in 1..5000000 ? 1 : 0"), 1) << "known ends: expr makes no range of it";
}

TEST(ExpressionLimits, ElementsThatAreLookedAtAreBounded) {
  const std::string huge = "let a = 4611686018427387904..4611686018427887904; ";
  EXPECT_EQ(value_of(huge + "mean(a)"), 0x1p62);
  EXPECT_NE(refusal_of(huge + "mean(a)" + repeated("+mean(a)", 400)), "");
}

}  // namespace
}  // namespace hostler::expression

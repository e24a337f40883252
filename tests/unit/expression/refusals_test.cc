#include "tests/unit/expression/expressions.h"

namespace hostler::expression {
namespace {

std::string whole_message(std::string_view text) {
  const auto out = result_of(text);
  return out ? "" : out.error().message;
}

TEST(ExpressionRefusals, ShowTheLineWithACaretBelowThePlace) {
  EXPECT_EQ(whole_message("1 +\n  foo * 2"),
            "unknown name 'foo': it is no metric, no variable and no function; the metrics are m, "
            "rps, queue_depth (2:3)\n"
            " |   foo * 2\n"
            " | ..^");
  EXPECT_EQ(whole_message("m % 2"),
            "this operator takes whole numbers, which int() makes, not float and int (1:3)\n"
            " | m % 2\n"
            " | ..^");
}

TEST(ExpressionRefusals, PointToThePlaceAlsoWhenTheyComeFromAnEvaluation) {
  EXPECT_EQ(whole_message("5 + 7 % int(m)"),
            "this is a remainder by zero (1:7)\n"
            " | 5 + 7 % int(m)\n"
            " | ......^");
}

TEST(ExpressionRefusals, ShowThePartOfALongLineThatMatters) {
  const std::string message =
      whole_message(std::string(4000, ' ') + "foo" + std::string(4000, ' '));
  EXPECT_LT(message.size(), 400U);
  EXPECT_NE(message.find("foo"), std::string::npos);
}

TEST(ExpressionRefusals, ShowNoControlCharactersOfTheText) {
  const std::string message = whole_message("1 + \x1b[31m\xff");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_EQ(message.find('\xff'), std::string::npos);
}

TEST(ExpressionRefusals, NameWhatOfExprIsNotSupported) {
  const std::vector<std::pair<std::string, std::string>> wanted{{"\"a\"", "text"},
                                                                {"m matches m", "'matches'"},
                                                                {"m contains m", "'contains'"},
                                                                {"m.x", "members"},
                                                                {"m?.x", "members"},
                                                                {"[1, 2][0]", "indexes and slices"},
                                                                {"{a: 1}", "maps"},
                                                                {"1 | abs()", "pipes"},
                                                                {"#", "closures"},
                                                                {"::abs(1)", "'::'"},
                                                                {"nil", "'nil'"},
                                                                {"$env", "'$env'"},
                                                                {"filter([1], # > 1)", "'filter'"},
                                                                {"now()", "'now'"},
                                                                {"toJSON(1)", "'toJSON'"},
                                                                {"date(1)", "'date'"},
                                                                {"bitand(1, 2)", "'bitand'"},
                                                                {"string(1)", "'string'"}};
  for (const auto& [text, name] : wanted) {
    EXPECT_NE(refusal_of(text).find(name), std::string::npos) << text << ": " << refusal_of(text);
    EXPECT_NE(refusal_of(text).find("not supported"), std::string::npos) << refusal_of(text);
  }
}

TEST(ExpressionRefusals, NameTypesThatDoNotFit) {
  for (const auto* text : {"true + 1", "1 < 2 < 3", "not 1", "1 and true", "-true", "1 ? 2 : 3",
                           "1 == true", "1..m", "1 in 2", "true in [1]", "len(1)", "sum(1)",
                           "abs([1])", "min([1])", "[true]", "[[1]]", "m % 2"})
    EXPECT_NE(refusal_of(text).find(" (1:"), std::string::npos) << text;
  EXPECT_EQ(refusal_of("m > 1"), "the result has to be a number, not boolean (1:3)");
  EXPECT_EQ(refusal_of("m", {}, Wants::kBoolean),
            "the result has to be a boolean, not float (1:1)");
  EXPECT_EQ(refusal_of("[1]"), "the result has to be a number, not array (1:1)");
}

TEST(ExpressionRefusals, SayWhatToWriteInstead) {
  const std::vector<std::pair<std::string, std::string>> wanted{
      {"avg_over(m, 5m)", "'5m' is not a number; a time stands in quotes: \"5m\" (1:13)"},
      {"5rps", "'5rps' is not a number (1:1)"},
      {"m = 1", "'=' does not go here; write == to compare (1:3)"},
      {"if m > 1 {2} else {3}", "there is no 'if'; write condition ? a : b (1:1)"},
      {"if(m > 1, 2, 3)", "there is no 'if'; write condition ? a : b (1:1)"},
      {"age(mm)", "there is no metric 'mm'; the metrics are m, rps, queue_depth (1:5)"},
      {"ceil(m > 1)", "ceil() takes a number, not boolean (1:1)"},
      {"clamp(m, m > 1, 2)", "clamp() takes numbers (1:1)"},
      {"1 < m < 3",
       "this operator takes numbers, not boolean and int; comparisons do not chain: write 1 < m "
       "and "
       "m < 3 (1:7)"},
      {"1 < true", "this operator takes numbers, not int and boolean (1:3)"}};
  for (const auto& [text, message] : wanted) EXPECT_EQ(refusal_of(text), message) << text;
  for (const auto* text : {"1 +", "(1", "abs(1", "[1"})
    EXPECT_NE(refusal_of(text).find("an operand, or a closing bracket, is missing"),
              std::string::npos)
        << text;
}

TEST(ExpressionRefusals, ListMetricsOnlyWhereTheListIsShort) {
  const std::vector<std::string> many(9, "m");
  EXPECT_EQ(Expression::compile("x", many).error().message.find("the metrics are"),
            std::string::npos);
  EXPECT_EQ(Expression::compile("x", {}).error().message.find("the metrics are"),
            std::string::npos);
}

TEST(ExpressionRefusals, SayWhatStandsWhereItMayNot) {
  for (const auto* text : {"",
                           " ",
                           "1 +",
                           "(1",
                           "1)",
                           "1 2",
                           "1,",
                           "[1",
                           "[,]",
                           "[1,,2]",
                           "abs(1,)",
                           "m(1)",
                           "abs",
                           "abs()",
                           "abs(1, 2)",
                           "let",
                           "let a",
                           "let a = 1",
                           "let 1 = 1; 2",
                           "let a = 1; let a = 2; a",
                           "let m = 1; m",
                           "let abs = 1; 2",
                           "let hour = 1; 2",
                           "(let a = 1; a) + a",
                           "a ? : 1",
                           "1 ?? 2 + 3",
                           "\\",
                           "@",
                           "\xc3\xa9",
                           "/* open",
                           "m = 1",
                           "1 & 2",
                           "~1",
                           "'open"})
    EXPECT_NE(refusal_of(text).find("("), std::string::npos) << text << ": " << refusal_of(text);
}

/// F-W4, F-W5: what fails for some values is an error of the evaluation, and never a number.
TEST(ExpressionRefusals, ComeWithAnEvaluationWhereOnlyTheValuesAreWrong) {
  for (const auto* text :
       {"5 % int(m)", "len(1..int(m * 1e6) + 1000000)", "(m == 0 ? true : 1) + 1", "clamp(m, 2, 1)",
        "m == 0 ? max(1, 2.5) % 2 : 1"}) {
    EXPECT_TRUE(compiled(text)) << text;
    const auto out = result_of(text, {0});
    ASSERT_FALSE(out) << text;
    EXPECT_EQ(out.error().code, Errc::kInvalidArgument);
  }
}

TEST(ExpressionRefusals, SayThatAMetricOrAVariableIsNoFunction) {
  EXPECT_EQ(refusal_of("m(1)"), "there is no function 'm' (1:1)");
  EXPECT_EQ(refusal_of("let a = 1; a(2)"), "there is no function 'a' (1:12)");
}

TEST(ExpressionRefusals, OfAConstantRemainderByZeroComeEarly) {
  EXPECT_FALSE(compiled("m > 0 ? 1 : 5 % 0"));
  EXPECT_FALSE(compiled("m ?? 5 % (2 - 2)"));
}

}  // namespace
}  // namespace hostler::expression

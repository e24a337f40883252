#include "tests/expression/corpus.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "core/expression/compiler.h"

namespace hostler::expression {
namespace {

const std::string kFolder = HOSTLER_EXPRESSION_TESTS;

/// The one that is kept; or another one, which .ci/nightly has made.
std::string corpus_path() {
  const char* const other = std::getenv("HOSTLER_EXPRESSION_CORPUS");
  return other != nullptr ? other : kFolder + "/corpus.gz";
}

const Corpus& corpus() {
  static const Corpus kCorpus = read_corpus(corpus_path());
  return kCorpus;
}

std::string content_of(const std::string& file) {
  std::ifstream in(kFolder + "/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_refused(const std::string& expected) {
  return expected == "c" || expected == "r" ||
         (expected[0] == '-' && expected != "-inf" && (expected[1] < '0' || expected[1] > '9'));
}

/// nullopt: refused, when compiled or when evaluated.
std::optional<double> result_of(const Case& one, const Grammar& grammar) {
  static const std::vector<std::string> kMetrics{"m", "rps", "queue_depth", "x1"};
  const auto compiled =
      compile(one.text, kMetrics, one.boolean ? Wants::kBoolean : Wants::kNumber, grammar);
  if (!compiled) return std::nullopt;
  const auto& values = corpus().values[one.values];
  std::vector<double> inputs;
  for (const Input& input : compiled->inputs)
    inputs.push_back(values.at(input.kind == Input::Kind::kStarted  ? "started"
                               : input.kind == Input::Kind::kQueued ? "queued"
                                                                    : input.name));
  const auto out = compiled->program.run(inputs);
  return out ? std::optional(*out) : std::nullopt;
}

/// To the last bit; all NaN are equal.
bool agrees(const Case& one, const Grammar& grammar) {
  const auto result = result_of(one, grammar);
  if (!result || is_refused(one.expected)) return !result && is_refused(one.expected);
  const double expected = one.expected == "true"    ? 1
                          : one.expected == "false" ? 0
                                                    : std::strtod(one.expected.c_str(), nullptr);
  if (std::isnan(expected)) return std::isnan(*result);
  return std::bit_cast<std::uint64_t>(expected) == std::bit_cast<std::uint64_t>(*result);
}

bool all_agree(const Grammar& grammar) {
  for (const Case& one : corpus().cases)
    if (!agrees(one, grammar)) return false;
  return true;
}

TEST(ExpressionCorpus, EachTextGivesTheNumberOfExprOrIsRefusedAsThere) {
  std::size_t shown = 0;
  for (const Case& one : corpus().cases) {
    if (agrees(one, kGrammar)) continue;
    const auto result = result_of(one, kGrammar);
    ADD_FAILURE() << one.text << "\nwith values " << one.values << ": expr " << one.expected
                  << ", hostler " << (result ? std::to_string(*result) : "refuses");
    if (++shown == 20) break;
  }
}

TEST(ExpressionCorpus, WhatOnlyExprHasIsOfTheListedKinds) {
  const std::set<std::string> listed{"-text", "-member",  "-array",   "-map",      "-colons",
                                     "-call", "-closure", "-builtin", "-function", "-index",
                                     "-nil",  "-letters", "-pipe",    "-$env"};
  std::set<std::string> found;
  for (const Case& one : corpus().cases)
    if (one.expected != "-inf" && is_refused(one.expected) && one.expected[0] == '-')
      found.insert(one.expected);
  for (const std::string& kind : found) EXPECT_TRUE(listed.contains(kind)) << kind;
}

TEST(ExpressionCorpus, IsOfOneVersionOfExprAndLargeAndSmallEnough) {
  EXPECT_EQ(corpus().module, "github.com/expr-lang/expr");
  EXPECT_EQ(corpus().version, "v1.16.0");
  const std::string line = corpus().module + " " + corpus().version;
  EXPECT_NE(content_of("oracle/go.sum").find(line + " " + corpus().sum + "\n"), std::string::npos);
  EXPECT_NE(content_of("oracle/go.mod").find("require " + line + "\n"), std::string::npos);
  EXPECT_FALSE(corpus().seed.empty());
  EXPECT_GE(corpus().cases.size(), 100'000U);
  const auto computed = std::count_if(corpus().cases.begin(), corpus().cases.end(),
                                      [](const Case& one) { return !is_refused(one.expected); });
  EXPECT_GE(computed, 50'000);
  EXPECT_LE(std::filesystem::file_size(corpus_path()), 3U << 20U);
}

/// The corpus shows that a precedence is right only if it would show that it is wrong.
TEST(ExpressionCorpus, FailsIfOneOperatorBindsTighterOrLooser) {
  std::map<int, int> tighter, looser;  // beyond the next precedence
  std::set<int> all{0, 50, 90, 600};   // the signs of one operand, and ends
  for (const Operator& each : kGrammar.binary) all.insert(each.precedence);
  for (auto level = std::next(all.begin()); level != std::prev(all.end()); ++level) {
    tighter[*level] = *std::next(level) + 1;
    looser[*level] = *std::prev(level) - 1;
  }
  for (std::size_t i = 0; i < kGrammar.binary.size(); ++i) {
    const Operator& right = kGrammar.binary[i];
    Grammar wrong = kGrammar;
    if (right.op != Op::kCoalesce) {
      wrong.binary[i].precedence = tighter.at(right.precedence);
      EXPECT_FALSE(all_agree(wrong)) << right.token << " may bind tighter";
    }
    if (right.op != Op::kOr) {
      wrong.binary[i].precedence = looser.at(right.precedence);
      EXPECT_FALSE(all_agree(wrong)) << right.token << " may bind looser";
    }
  }
}

/// Not each precedence makes a difference: -(a * b) is (-a) * b, and no sign makes +a another
/// number.
TEST(ExpressionCorpus, FailsIfASignOfOneOperandBindsTighterOrLooser) {
  const std::map<std::string_view, std::vector<int>> noticed{
      {"not", {9, 19}}, {"!", {9, 19}}, {"-", {19, 29, 101}}, {"+", {19}}};
  for (std::size_t i = 0; i < kGrammar.unary.size(); ++i) {
    Grammar wrong = kGrammar;
    for (const int precedence : noticed.at(kGrammar.unary[i].token)) {
      wrong.unary[i].precedence = precedence;
      EXPECT_FALSE(all_agree(wrong)) << kGrammar.unary[i].token << " may have " << precedence;
    }
  }
}

TEST(ExpressionCorpus, FailsIfPowersAreComputedFromTheLeft) {
  Grammar wrong = kGrammar;
  for (Operator& each : wrong.binary) each.right = false;
  EXPECT_FALSE(all_agree(wrong));
}

}  // namespace
}  // namespace hostler::expression

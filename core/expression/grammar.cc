#include "core/expression/grammar.h"

#include <algorithm>

namespace hostler::expression {

const Grammar kGrammar = {
    .binary = {{{"or", Op::kOr, 10, false},          {"||", Op::kOr, 10, false},
                {"and", Op::kAnd, 15, false},        {"&&", Op::kAnd, 15, false},
                {"==", Op::kEqual, 20, false},       {"!=", Op::kNotEqual, 20, false},
                {"<", Op::kLess, 20, false},         {">", Op::kMore, 20, false},
                {">=", Op::kMoreOrEqual, 20, false}, {"<=", Op::kLessOrEqual, 20, false},
                {"in", Op::kIn, 20, false},          {"..", Op::kRange, 25, false},
                {"+", Op::kAdd, 30, false},          {"-", Op::kSubtract, 30, false},
                {"*", Op::kMultiply, 60, false},     {"/", Op::kDivide, 60, false},
                {"%", Op::kModulo, 60, false},       {"**", Op::kPower, 100, true},
                {"^", Op::kPower, 100, true},        {"??", Op::kCoalesce, 500, false}}},
    .unary = {{{"not", Op::kNot, 50, false},
               {"!", Op::kNot, 50, false},
               {"-", Op::kNegate, 90, false},
               {"+", Op::kPlus, 90, false}}}};

namespace {

constexpr std::array kFunctions{
    Function{"len", Op::kLen},       Function{"abs", Op::kAbs},     Function{"ceil", Op::kCeil},
    Function{"floor", Op::kFloor},   Function{"round", Op::kRound}, Function{"int", Op::kInt},
    Function{"float", Op::kFloat},   Function{"sum", Op::kSum},     Function{"mean", Op::kMean},
    Function{"median", Op::kMedian}, Function{"min", Op::kMin, 0},  Function{"max", Op::kMax, 0},
    Function{"clamp", Op::kClamp, 3}};

constexpr std::array kInputWords{
    InputWord{"age", Input::Kind::kAge, Takes::kMetric},
    InputWord{"avg_over", Input::Kind::kAvgOver, Takes::kMetricAndTime},
    InputWord{"max_over", Input::Kind::kMaxOver, Takes::kMetricAndTime},
    InputWord{"created", Input::Kind::kCreated, Takes::kNothing},
    InputWord{"started", Input::Kind::kStarted, Takes::kNothing},
    InputWord{"idle", Input::Kind::kIdle, Takes::kNothing},
    InputWord{"busy", Input::Kind::kBusy, Takes::kNothing},
    InputWord{"queued", Input::Kind::kQueued, Takes::kNothing},
    InputWord{"hour", Input::Kind::kHour, Takes::kZone},
    InputWord{"weekday", Input::Kind::kWeekday, Takes::kZone}};

constexpr std::array<std::string_view, 54> kForeignFunctions{
    "all",      "none",      "any",         "one",           "filter",     "map",
    "find",     "findIndex", "findLast",    "findLastIndex", "count",      "groupBy",
    "reduce",   "type",      "string",      "trim",          "trimPrefix", "trimSuffix",
    "upper",    "lower",     "split",       "splitAfter",    "replace",    "repeat",
    "join",     "indexOf",   "lastIndexOf", "hasPrefix",     "hasSuffix",  "toJSON",
    "fromJSON", "toBase64",  "fromBase64",  "now",           "duration",   "date",
    "first",    "last",      "get",         "take",          "keys",       "values",
    "toPairs",  "fromPairs", "sort",        "sortBy",        "bitand",     "bitor",
    "bitxor",   "bitnand",   "bitshl",      "bitshr",        "bitushr",    "bitnot"};

constexpr std::array<std::string_view, 4> kTextOperators{"matches", "contains", "startsWith",
                                                         "endsWith"};
constexpr std::array<std::string_view, 9> kReserved{"true", "false", "nil", "$env", "let",
                                                    "not",  "and",   "or",  "in"};

template <class Table>
auto find_by_name(const Table& table, std::string_view name) -> decltype(table.data()) {
  for (const auto& each : table)
    if (each.name == name) return &each;
  return nullptr;
}

template <class Names>
bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const Function* find_function(std::string_view name) { return find_by_name(kFunctions, name); }

std::string_view function_name(Op op) {
  for (const Function& each : kFunctions)
    if (each.op == op) return each.name;
  return {};
}

const InputWord* find_input_word(std::string_view name) { return find_by_name(kInputWords, name); }

bool is_foreign_function(std::string_view name) { return has(kForeignFunctions, name); }

bool is_text_operator(std::string_view token) { return has(kTextOperators, token); }

bool is_function(std::string_view name) {
  return find_function(name) != nullptr || find_input_word(name) != nullptr ||
         is_foreign_function(name);
}

bool is_taken(std::string_view name) {
  return is_function(name) || is_text_operator(name) || has(kReserved, name);
}

}  // namespace hostler::expression

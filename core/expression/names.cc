// The part of the parser that resolves names, and reads what inputs are named with.
#include <algorithm>
#include <utility>

#include "core/expression/parser.h"
#include "core/expression/refusals.h"
#include "core/expression/window.h"

namespace hostler::expression {

bool Parser::is_metric(std::string_view name) const {
  return std::find(metrics_.begin(), metrics_.end(), name) != metrics_.end();
}

Result<NodeId> Parser::name() {
  const Token word = token_;
  HOSTLER_TRY(advance());
  if (word.text == "true" || word.text == "false")
    return add(
        {.kind = Node::Kind::kLiteral, .at = word.at, .value = of_bool(word.text == "true")});
  if (word.text == "nil") return refuse(why_not(word.text, metrics_), word.at);
  if (const InputWord* const found = find_input_word(word.text)) return input(*found, word);
  const bool called = sees("(");
  if (const Function* const found = find_function(word.text); found != nullptr && called)
    return call(*found, word);
  for (std::size_t slot = variables_.size(); !called && slot-- > 0;)
    if (variables_[slot].name == word.text)
      return add({.kind = Node::Kind::kVariable,
                  .at = word.at,
                  .a = static_cast<std::uint32_t>(slot),
                  .b = variables_[slot].value});
  if (called && !is_function(word.text) && word.text != "if")
    return refuse("there is no function '" + std::string(word.text) + "'", word.at);
  if (!is_metric(word.text)) return refuse(why_not(word.text, metrics_), word.at);
  return add_input({Input::Kind::kMetric, std::string(word.text)}, Type::kFloat, word.at);
}

Result<NodeId> Parser::add_input(Input&& input, Type type, std::uint32_t at) {
  auto& inputs = tree_.inputs;
  const auto found = std::find(inputs.begin(), inputs.end(), input);
  const auto index = static_cast<std::uint32_t>(found - inputs.begin());
  if (found == inputs.end()) inputs.push_back(std::move(input));
  return add({.kind = Node::Kind::kInput, .type = type, .at = at, .a = index});
}

Result<std::string> Parser::metric() {
  if (token_.kind != TokenKind::kName) return refuse("the name of a metric goes here", token_.at);
  if (!is_metric(token_.text)) return refuse(no_metric(token_.text, metrics_), token_.at);
  std::string out(token_.text);
  HOSTLER_TRY(advance());
  return out;
}

Result<std::string_view> Parser::quoted(std::string_view what) {
  if (token_.kind != TokenKind::kText)
    return refuse(std::string(what) + " goes here, in quotes", token_.at);
  const std::string_view out = token_.text;
  HOSTLER_TRY(advance());
  return out;
}

Result<NodeId> Parser::input(const InputWord& word, const Token& name) {
  const bool whole = word.takes == Takes::kNothing || word.takes == Takes::kZone;
  Input out{word.kind, ""};
  if (word.takes == Takes::kNothing) {
    if (sees("(")) return refuse("'" + std::string(word.name) + "' stands alone", token_.at);
    return add_input(std::move(out), Type::kInt, name.at);
  }
  HOSTLER_TRY(expect(TokenKind::kBracket, "("));
  const std::uint32_t at = token_.at;
  if (word.takes == Takes::kZone) {
    out.name = HOSTLER_TRY(quoted("the name of a time zone"));
    if (!is_zone_name(out.name)) return refuse("this is no name of a time zone", at);
  } else {
    out.name = HOSTLER_TRY(metric());
  }
  if (word.takes == Takes::kMetricAndTime) {
    HOSTLER_TRY(expect(TokenKind::kOperator, ","));
    const std::uint32_t time_at = token_.at;
    const auto window = parse_window(HOSTLER_TRY(quoted("a time such as \"5m\"")));
    if (!window) return refuse(window.error().message, time_at);
    out.window = *window;
  }
  HOSTLER_TRY(expect(TokenKind::kBracket, ")"));
  return add_input(std::move(out), whole ? Type::kInt : Type::kFloat, name.at);
}

}  // namespace hostler::expression

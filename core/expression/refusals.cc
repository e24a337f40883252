#include "core/expression/refusals.h"

#include <array>
#include <utility>

#include "core/base/text.h"

namespace hostler::expression {
namespace {

/// Signs of expr that begin something which the language does not have.
std::string_view foreign_sign(std::string_view sign) {
  using Entry = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kSigns{Entry{"|", "pipes are"},
                                     Entry{"{", "maps and closures are"},
                                     Entry{"#", "closures are"},
                                     Entry{"::", "'::' is"},
                                     Entry{".", "members are"},
                                     Entry{"?.", "members are"},
                                     Entry{"[", "indexes and slices are"}};
  for (const auto& [text, what] : kSigns)
    if (text == sign) return what;
  return {};
}

std::string quoted_word(std::string_view word) { return "'" + printable(word, 60) + "'"; }

/// For the end of a message; empty where the list would be long.
std::string known_metrics(std::span<const std::string> metrics) {
  constexpr std::size_t kShownMax = 8;
  if (metrics.empty() || metrics.size() > kShownMax) return {};
  std::string out;
  for (const std::string& metric : metrics) out += (out.empty() ? "" : ", ") + metric;
  return "; the metrics are " + out;
}

}  // namespace

std::string why_not_here(const Token& token) {
  if (token.kind == TokenKind::kEnd)
    return "the expression ends too early: an operand, or a closing bracket, is missing";
  if (token.kind == TokenKind::kText)
    return "text is not supported: it stands only in hour(), weekday(), avg_over() and max_over()";
  if (token.is(TokenKind::kOperator, "=")) return "'=' does not go here; write == to compare";
  if (is_text_operator(token.text))
    return quoted_word(token.text) + " is not supported: there is no text to compare";
  if (token.kind == TokenKind::kOperator || token.kind == TokenKind::kBracket)
    if (const std::string_view foreign = foreign_sign(token.text); !foreign.empty())
      return std::string(foreign) + " not supported in expressions";
  return quoted_word(token.text) + " does not go here";
}

std::string why_not(std::string_view name, std::span<const std::string> metrics) {
  if (name == "if") return "there is no 'if'; write condition ? a : b";
  if (name == "nil")
    return "'nil' is not supported: where a metric is unknown, the whole result is";
  if (name == "$env") return "'$env' is not supported: metrics stand by their names";
  if (is_foreign_function(name))
    return quoted_word(name) + " is a function of expr that is not supported";
  if (find_function(name) != nullptr) return quoted_word(name) + " needs its arguments in ()";
  return "unknown name " + quoted_word(name) + ": it is no metric, no variable and no function" +
         known_metrics(metrics);
}

std::string no_metric(std::string_view name, std::span<const std::string> metrics) {
  return "there is no metric " + quoted_word(name) + known_metrics(metrics);
}

std::string wrong_count(const Function& function, std::size_t given) {
  const std::string wanted = function.arguments == 0 ? "1 value or more"
                             : function.arguments == 1
                                 ? "1 value"
                                 : std::to_string(function.arguments) + " values";
  return std::string(function.name) + "() takes " + wanted + ", not " + std::to_string(given);
}

}  // namespace hostler::expression

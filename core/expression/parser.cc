#include "core/expression/parser.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/expression/caret.h"
#include "core/expression/number.h"
#include "core/expression/refusals.h"

namespace hostler::expression {

tl::unexpected<Error> Parser::refuse(std::string_view message, std::uint32_t at) const {
  return fail(Errc::kInvalidArgument, with_caret(message, text_, at));
}

tl::unexpected<Error> Parser::refuse_token() const {
  return refuse(why_not_here(token_), token_.at);
}

bool Parser::sees(std::string_view sign) const {
  return (token_.kind == TokenKind::kOperator || token_.kind == TokenKind::kBracket) &&
         token_.text == sign;
}

Result<void> Parser::advance() {
  token_ = HOSTLER_TRY(lexer_.next());
  return {};
}

Result<void> Parser::expect(TokenKind kind, std::string_view word) {
  if (!token_.is(kind, word)) return refuse_token();
  return advance();
}

Result<NodeId> Parser::add(const Node& node) {
  if (tree_.nodes.size() == kStepsMax)
    return refuse("the expression has more than 1,000 numbers, names and operators", node.at);
  tree_.nodes.push_back(node);
  return static_cast<NodeId>(tree_.nodes.size() - 1);
}

Result<Tree> Parser::parse() {
  if (text_.size() > kTextMax)
    return fail(Errc::kTooLarge, "an expression has at most 8 KiB; this one has " +
                                     std::to_string(text_.size()) + " bytes");
  tree_.nodes.reserve(std::min(kStepsMax, text_.size() / 2 + 1));
  HOSTLER_TRY(advance());
  const NodeId root = HOSTLER_TRY(nested(0));
  if (token_.kind != TokenKind::kEnd) return refuse_token();
  HOSTLER_ASSERT(root + 1 == tree_.nodes.size(), "the root is the last node");
  return std::move(tree_);
}

/// Each way into an expression that the number of operators does not bound.
Result<NodeId> Parser::nested(int precedence) {
  if (depth_ == kDepthMax) return refuse("the expression is nested more than 64 deep", token_.at);
  ++depth_;
  const NodeId out = HOSTLER_TRY(expression(precedence));
  --depth_;
  return out;
}

Result<NodeId> Parser::expression(int precedence) {
  if (precedence == 0 && sees("let")) return declaration();
  NodeId left = HOSTLER_TRY(operand());
  left = HOSTLER_TRY(binary(left, precedence));
  return precedence == 0 ? choice(left) : left;
}

Result<NodeId> Parser::binary(NodeId left, int precedence) {
  bool after_coalesce = false;
  while (token_.kind == TokenKind::kOperator) {
    // As in expr `not` is read even if what follows it belongs to an outer expression.
    const bool negated = sees("not");
    if (negated) HOSTLER_TRY(advance());
    const Token sign = token_;
    const Operator* const found =
        sign.kind == TokenKind::kOperator ? find_operator(sign.text, grammar_.binary) : nullptr;
    if (found == nullptr || found->precedence < precedence) break;
    if (after_coalesce && found->op != Op::kCoalesce)
      return refuse("put the operator ?? and its operands into parentheses before '" +
                        std::string(sign.text) + "'",
                    sign.at);
    HOSTLER_TRY(advance());
    const NodeId right =
        HOSTLER_TRY(found->right ? nested(found->precedence) : expression(found->precedence + 1));
    left = HOSTLER_TRY(
        add({.kind = Node::Kind::kBinary, .op = found->op, .at = sign.at, .a = left, .b = right}));
    if (negated)
      left =
          HOSTLER_TRY(add({.kind = Node::Kind::kUnary, .op = Op::kNot, .at = sign.at, .a = left}));
    after_coalesce = found->op == Op::kCoalesce;
  }
  return left;
}

Result<NodeId> Parser::choice(NodeId condition) {
  while (sees("?")) {
    const std::uint32_t at = token_.at;
    HOSTLER_TRY(advance());
    NodeId yes = condition;
    if (!sees(":")) yes = HOSTLER_TRY(nested(0));
    HOSTLER_TRY(expect(TokenKind::kOperator, ":"));
    const NodeId no = HOSTLER_TRY(nested(0));
    condition = HOSTLER_TRY(
        add({.kind = Node::Kind::kChoice, .at = at, .a = condition, .b = yes, .c = no}));
  }
  return condition;
}

Result<void> Parser::check_new_variable(const Token& name) const {
  const auto same_name = [&](const Variable& each) { return each.name == name.text; };
  const std::string shown = "'" + std::string(name.text) + "'";
  if (is_metric(name.text)) return refuse(shown + " is a metric; take another name", name.at);
  if (is_function(name.text) || name.text == "nil" || name.text == "$env")
    return refuse(shown + " is a word of the language; take another name", name.at);
  if (std::any_of(variables_.begin(), variables_.end(), same_name))
    return refuse(shown + " is declared already", name.at);
  return {};
}

Result<NodeId> Parser::declaration() {
  HOSTLER_TRY(advance());
  const Token name = token_;
  if (name.kind != TokenKind::kName) return refuse_token();
  HOSTLER_TRY(advance());
  HOSTLER_TRY(expect(TokenKind::kOperator, "="));
  HOSTLER_TRY(check_new_variable(name));
  const NodeId value = HOSTLER_TRY(nested(0));
  HOSTLER_TRY(expect(TokenKind::kOperator, ";"));
  const auto slot = static_cast<std::uint32_t>(variables_.size());
  variables_.push_back({name.text, value});
  const NodeId rest = HOSTLER_TRY(nested(0));
  variables_.pop_back();
  return add({.kind = Node::Kind::kLet, .at = name.at, .a = slot, .b = value, .c = rest});
}

/// With what may not follow it: members and indexes of expr.
Result<NodeId> Parser::operand() {
  const NodeId out = HOSTLER_TRY(primary());
  if (sees("[") || sees(".") || sees("?.")) return refuse_token();
  return out;
}

Result<NodeId> Parser::primary() {
  const Token first = token_;
  if (first.kind == TokenKind::kOperator) {
    const Operator* const found = find_operator(first.text, grammar_.unary);
    if (found == nullptr) return refuse_token();
    HOSTLER_TRY(advance());
    const NodeId inner = HOSTLER_TRY(nested(found->precedence));
    return add({.kind = Node::Kind::kUnary, .op = found->op, .at = first.at, .a = inner});
  }
  if (sees("[")) return array();
  if (first.kind == TokenKind::kName) return name();
  if (first.kind == TokenKind::kNumber) return literal();
  if (!sees("(")) return refuse_token();
  HOSTLER_TRY(advance());
  const NodeId inner = HOSTLER_TRY(nested(0));
  HOSTLER_TRY(expect(TokenKind::kBracket, ")"));
  return inner;
}

Result<NodeId> Parser::literal() {
  const auto value = read_number(token_.text);
  if (!value)
    return refuse("'" + printable(token_.text, 40) + "' is no number that fits into 64 bits",
                  token_.at);
  const std::uint32_t at = token_.at;
  HOSTLER_TRY(advance());
  return add({.kind = Node::Kind::kLiteral, .at = at, .value = *value});
}

/// Moves what is pending since then to the tree, as the list of the node.
Result<NodeId> Parser::finish_list(Node node, std::size_t pending_before) {
  const auto begin = pending_.begin() + static_cast<std::ptrdiff_t>(pending_before);
  node.a = static_cast<NodeId>(tree_.lists.size());
  node.b = static_cast<NodeId>(pending_.size() - pending_before);
  tree_.lists.insert(tree_.lists.end(), begin, pending_.end());
  pending_.resize(pending_before);
  return add(node);
}

Result<NodeId> Parser::array() {
  const std::uint32_t at = token_.at;
  const std::size_t before = pending_.size();
  HOSTLER_TRY(advance());
  while (!sees("]")) {
    if (pending_.size() > before) HOSTLER_TRY(expect(TokenKind::kOperator, ","));
    if (pending_.size() > before && sees("]")) break;
    pending_.push_back(HOSTLER_TRY(nested(0)));
  }
  HOSTLER_TRY(advance());
  return finish_list({.kind = Node::Kind::kArray, .at = at}, before);
}

Result<NodeId> Parser::call(const Function& function, const Token& name) {
  const std::size_t before = pending_.size();
  HOSTLER_TRY(expect(TokenKind::kBracket, "("));
  while (!sees(")")) {
    if (pending_.size() > before) HOSTLER_TRY(expect(TokenKind::kOperator, ","));
    pending_.push_back(HOSTLER_TRY(nested(0)));
  }
  HOSTLER_TRY(advance());
  const std::size_t given = pending_.size() - before;
  if (given == 0 || (function.arguments > 0 && given != function.arguments))
    return refuse(wrong_count(function, given), name.at);
  return finish_list({.kind = Node::Kind::kCall, .op = function.op, .at = name.at}, before);
}

}  // namespace hostler::expression

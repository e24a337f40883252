#include "core/expression/checker.h"

#include <algorithm>
#include <span>
#include <string>

#include "core/expression/caret.h"
#include "core/expression/grammar.h"

namespace hostler::expression {
namespace {

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kInt:
      return "int";
    case Type::kFloat:
      return "float";
    case Type::kBool:
      return "boolean";
    case Type::kArray:
    case Type::kRange:
      return "array";
    case Type::kAny:
    case Type::kNone:
      break;
  }
  return "any";
}

bool is_any(Type type) { return type == Type::kAny; }
bool is_list_type(Type type) { return type == Type::kArray || type == Type::kRange; }
/// What is known only when it is computed may be of the right type.
bool may_be_int(Type type) { return type == Type::kInt || is_any(type); }
bool may_be_number(Type type) { return may_be_int(type) || type == Type::kFloat; }
bool may_be_bool(Type type) { return type == Type::kBool || is_any(type); }
bool may_be_list(Type type) { return is_list_type(type) || is_any(type); }

bool comparable(Type a, Type b) {
  return a == b || is_any(a) || is_any(b) || (may_be_number(a) && may_be_number(b)) ||
         (is_list_type(a) && is_list_type(b));
}

/// The type of a + b, of two numbers.
Type combined(Type a, Type b) {
  if (is_any(a) || is_any(b)) return Type::kAny;
  return a == b ? a : Type::kFloat;
}

class Checker {
 public:
  Checker(Tree& tree, std::string_view text) : tree_(tree), text_(text) {}

  Result<void> check(Node& node) {
    switch (node.kind) {
      case Node::Kind::kLiteral:
        node.type = node.value.tag == Tag::kInt     ? Type::kInt
                    : node.value.tag == Tag::kFloat ? Type::kFloat
                                                    : Type::kBool;
        return {};
      case Node::Kind::kInput:
        return {};  // by the parser
      case Node::Kind::kVariable:
        return take_over(node, node.b);
      case Node::Kind::kLet:
        return take_over(node, node.c);
      case Node::Kind::kUnary:
        return unary(node);
      case Node::Kind::kBinary:
        return binary(node);
      case Node::Kind::kChoice:
        return choice(node);
      case Node::Kind::kArray:
        return array(node);
      case Node::Kind::kCall:
        return call(node);
    }
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> refuse(const std::string& message, const Node& at) const {
    return fail(Errc::kInvalidArgument, with_caret(message, text_, at.at));
  }

 private:
  [[nodiscard]] const Node& at(NodeId id) const { return tree_.nodes[id]; }
  [[nodiscard]] Type type(NodeId id) const { return tree_.nodes[id].type; }

  Result<void> take_over(Node& node, NodeId from) {
    node.type = at(from).type;
    node.element = at(from).element;
    return {};
  }

  Result<void> unary(Node& node) {
    const Type operand = type(node.a);
    const bool logical = node.op == Op::kNot;
    if (logical ? !may_be_bool(operand) : !may_be_number(operand))
      return refuse(logical ? "'not' takes a boolean, not " + std::string(name_of(operand))
                            : "this sign takes a number, not " + std::string(name_of(operand)),
                    node);
    node.type = logical ? Type::kBool : operand;
    return {};
  }

  [[nodiscard]] std::string hint_of_chain(const Node& node) const {
    const auto compares = [](const Node& one) {
      return one.kind == Node::Kind::kBinary && one.op >= Op::kEqual && one.op <= Op::kMoreOrEqual;
    };
    const bool chains = compares(node) && (compares(at(node.a)) || compares(at(node.b)));
    return chains ? "; comparisons do not chain: write 1 < m and m < 3" : "";
  }

  Result<void> typed(Node& node, bool fits, Type result, std::string_view wanted) {
    node.type = result;
    if (fits) return {};
    return refuse("this operator takes " + std::string(wanted) + ", not " +
                      std::string(name_of(type(node.a))) + " and " +
                      std::string(name_of(type(node.b))) + hint_of_chain(node),
                  node);
  }

  Result<void> binary(Node& node) {
    const Type a = type(node.a), b = type(node.b);
    const bool numbers = may_be_number(a) && may_be_number(b);
    const bool ints = may_be_int(a) && may_be_int(b);
    switch (node.op) {
      case Op::kOr:
      case Op::kAnd:
        return typed(node, may_be_bool(a) && may_be_bool(b), Type::kBool, "booleans");
      case Op::kEqual:
      case Op::kNotEqual:
        return typed(node, comparable(a, b), Type::kBool, "values of one type");
      case Op::kIn:
        return typed(node, is_any(b) || is_in(node), Type::kBool, "a number and an array");
      case Op::kRange:
        return typed(node, ints, Type::kRange, "whole numbers, which int() makes");
      case Op::kModulo:
        return typed(node, ints, combined(a, b), "whole numbers, which int() makes");
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kMultiply:
        return typed(node, numbers, combined(a, b), "numbers");
      case Op::kDivide:
      case Op::kPower:
        return typed(node, numbers, Type::kFloat, "numbers");
      case Op::kCoalesce:
        return typed(node, true, a == b ? a : Type::kAny, "");
      default:  // comparisons
        return typed(node, numbers, Type::kBool, "numbers");
    }
  }

  [[nodiscard]] bool is_in(const Node& node) const {
    const Node& list = at(node.b);
    if (!is_list_type(list.type)) return false;
    if (list.type == Type::kRange) return may_be_number(type(node.a));
    return list.element == Type::kNone || comparable(type(node.a), list.element);
  }

  Result<void> choice(Node& node) {
    if (!may_be_bool(type(node.a)))
      return refuse(
          "the condition of ?: has to be a boolean, not " + std::string(name_of(type(node.a))),
          at(node.a));
    const Type yes = type(node.b), no = type(node.c);
    node.type = yes == no || is_any(no) ? yes : Type::kAny;
    return {};
  }

  [[nodiscard]] std::span<const NodeId> list(const Node& node) const {
    return std::span(tree_.lists).subspan(node.a, node.b);
  }

  Result<void> array(Node& node) {
    node.type = Type::kArray;
    bool one_type = true;
    for (const NodeId id : list(node)) {
      if (!may_be_number(type(id)))
        return refuse("arrays have numbers only, not " + std::string(name_of(type(id))), at(id));
      one_type = one_type && type(id) == type(list(node)[0]);
    }
    if (one_type && node.b > 0) node.element = type(list(node)[0]);
    return {};
  }

  Result<void> argument(const Node& node, bool fits, std::string_view wanted) const {
    if (fits) return {};
    const Type first = type(list(node)[0]);
    return refuse(std::string(function_name(node.op)) + "() takes " + std::string(wanted) +
                      (node.b == 1 ? ", not " + std::string(name_of(first)) : ""),
                  node);
  }

  Result<void> call(Node& node) {
    const Type first = type(list(node)[0]);
    switch (node.op) {
      case Op::kLen:
      case Op::kSum:
      case Op::kMean:
      case Op::kMedian:
        node.type = node.op == Op::kLen   ? Type::kInt
                    : node.op == Op::kSum ? Type::kAny
                                          : Type::kFloat;
        return argument(node, may_be_list(first), "an array");
      case Op::kMin:
      case Op::kMax:
        return extreme(node);
      case Op::kClamp:
        return clamp(node);
      default:
        node.type = node.op == Op::kAbs ? first : node.op == Op::kInt ? Type::kInt : Type::kFloat;
        return argument(node, may_be_number(first), "a number");
    }
  }

  /// As expr: the type is that of the first argument, whichever it gives. One that is any ends the
  /// check.
  Result<void> extreme(Node& node) {
    node.type = type(list(node)[0]);
    for (const NodeId id : list(node)) {
      if (is_any(type(id))) {
        node.type = Type::kAny;
        return {};
      }
      if (!may_be_number(type(id))) return argument(node, false, "numbers");
    }
    return {};
  }

  Result<void> clamp(Node& node) {
    node.type = Type::kInt;
    for (const NodeId id : list(node)) {
      if (!may_be_number(type(id))) return argument(node, false, "numbers");
      node.type = combined(node.type, type(id));
    }
    return {};
  }

  Tree& tree_;
  std::string_view text_;
};

}  // namespace

Result<void> check_types(Tree& tree, std::string_view text, Wants wants) {
  Checker checker(tree, text);
  for (Node& node : tree.nodes) HOSTLER_TRY(checker.check(node));
  const Node& root = tree.nodes.back();
  const bool number = wants == Wants::kNumber;
  if (number ? may_be_number(root.type) : may_be_bool(root.type)) return {};
  return checker.refuse(std::string("the result has to be a ") + (number ? "number" : "boolean") +
                            ", not " + std::string(name_of(root.type)),
                        root);
}

}  // namespace hostler::expression

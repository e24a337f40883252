#include "core/expression/folder.h"

#include <algorithm>
#include <optional>
#include <span>

#include "core/expression/caret.h"
#include "core/expression/compute.h"

namespace hostler::expression {
namespace {

bool is_literal(const Node& node) { return node.kind == Node::Kind::kLiteral; }
bool is_literal(const Node& node, Tag tag) { return is_literal(node) && node.value.tag == tag; }
bool is_literal_number(const Node& node) { return is_literal(node) && is_number(node.value); }

Type type_of(const Value& value) {
  return value.tag == Tag::kInt     ? Type::kInt
         : value.tag == Tag::kFloat ? Type::kFloat
                                    : Type::kNone;
}

/// The place in the text stays.
void become(Node& node, const Node& other) {
  const std::uint32_t at = node.at;
  node = other;
  node.at = at;
}
void become(Node& node, const Value& value, Type type) {
  node = {.kind = Node::Kind::kLiteral, .type = type, .at = node.at, .value = value};
}

/// `x in [1, 2]` with a whole x, and numbers as they are written.
void find_set(Node& node, const Tree& tree) {
  if (node.kind != Node::Kind::kBinary || node.op != Op::kIn) return;
  const Node& list = tree.nodes[node.b];
  if (list.kind != Node::Kind::kArray || list.b == 0) return;
  if (tree.nodes[node.a].type != Type::kInt) return;
  const auto elements = std::span(tree.lists).subspan(list.a, list.b);
  if (std::all_of(elements.begin(), elements.end(),
                  [&](NodeId id) { return is_literal(tree.nodes[id], Tag::kInt); }))
    node.op = Op::kInInts;
}

class Folder {
 public:
  Folder(Tree& tree, std::string_view text) : tree_(tree), text_(text) {}

  Result<void> fold(Node& node) {
    if (node.kind == Node::Kind::kUnary) unary(node);
    if (node.kind == Node::Kind::kArray) array(node);
    if (node.kind == Node::Kind::kBinary) return binary(node);
    return {};
  }

 private:
  void unary(Node& node) {
    const Node& operand = tree_.nodes[node.a];
    if (node.op == Op::kNot ? !is_literal(operand, Tag::kBool) : !is_literal_number(operand))
      return;
    Value out{};
    compute(node.op, operand.value, out);
    become(node, out, type_of(out));
  }

  void array(Node& node) {
    const auto elements = std::span(tree_.lists).subspan(node.a, node.b);
    const bool constant = std::all_of(elements.begin(), elements.end(),
                                      [this](NodeId id) { return is_literal(tree_.nodes[id]); });
    node.constant = constant && node.b > 0;
    if (node.constant) node.type = Type::kNone;
  }

  Result<void> binary(Node& node) {
    const Node &left = tree_.nodes[node.a], &right = tree_.nodes[node.b];
    switch (node.op) {
      case Op::kAnd:
      case Op::kOr:
        logical(node, left, right, node.op == Op::kAnd);
        return {};
      case Op::kEqual:
        equality(node, left, right);
        return {};
      case Op::kModulo:
        return modulo(node, left, right);
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kMultiply:
      case Op::kDivide:
      case Op::kPower:
        if (is_literal_number(left) && is_literal_number(right)) {
          Value out{};
          compute(node.op, left.value, right.value, out);
          become(node, out, type_of(out));
        }
        return {};
      default:
        return {};
    }
  }

  /// `neutral`: the operand that leaves the other one as it is.
  static void logical(Node& node, const Node& left, const Node& right, bool neutral) {
    const bool left_known = is_literal(left, Tag::kBool),
               right_known = is_literal(right, Tag::kBool);
    if (left_known && left.value.truth == neutral)
      become(node, right);
    else if (right_known && right.value.truth == neutral)
      become(node, left);
    else if (left_known || right_known)
      become(node, of_bool(!neutral), Type::kNone);
  }

  static void equality(Node& node, const Node& left, const Node& right) {
    if (!is_literal(left) || !is_literal(right) || left.value.tag != right.value.tag) return;
    if (left.value.tag == Tag::kFloat) return;
    become(node, of_bool(equal(left.value, right.value)), Type::kNone);
  }

  Result<void> modulo(Node& node, const Node& left, const Node& right) {
    if (!is_literal(left, Tag::kInt) || !is_literal(right, Tag::kInt)) return {};
    Value out{};
    if (const char* const problem = compute(node.op, left.value, right.value, out))
      return fail(Errc::kInvalidArgument, with_caret(problem, text_, node.at));
    become(node, out, Type::kNone);
    return {};
  }

  Tree& tree_;
  std::string_view text_;
};

}  // namespace

Result<void> fold(Tree& tree, std::string_view text) {
  for (Node& node : tree.nodes) find_set(node, tree);
  Folder folder(tree, text);
  for (Node& node : tree.nodes) HOSTLER_TRY(folder.fold(node));
  return {};
}

}  // namespace hostler::expression

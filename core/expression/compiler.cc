#include "core/expression/compiler.h"

#include <algorithm>
#include <utility>

#include "core/expression/caret.h"
#include "core/expression/checker.h"
#include "core/expression/folder.h"
#include "core/expression/parser.h"

namespace hostler::expression {
namespace {

using Code = Instruction::Code;

/// Writes the instructions of a tree. Recursive: a tree is at most kStepsMax deep.
class Compiler {
 public:
  Compiler(const Tree& tree, Program& program) : tree_(tree), program_(program) {}

  Result<void> emit(NodeId id) {
    const Node& node = tree_.nodes[id];
    switch (node.kind) {
      case Node::Kind::kLiteral:
        return add(node, Code::kPush, add_constant(node.value));
      case Node::Kind::kInput:
        return add(node, node.type == Type::kInt ? Code::kIntInput : Code::kFloatInput, node.a);
      case Node::Kind::kVariable:
        return add(node, Code::kLoad, node.a);
      case Node::Kind::kLet:
        HOSTLER_TRY(emit(node.b));
        HOSTLER_TRY(add(node, Code::kStore, node.a));
        return emit(node.c);
      case Node::Kind::kUnary:
        HOSTLER_TRY(emit(node.a));
        return add(node, Code::kUnary, 0);
      case Node::Kind::kBinary:
        return binary(node);
      case Node::Kind::kChoice:
        return choice(node);
      case Node::Kind::kArray:
        return array(node);
      case Node::Kind::kCall:
        HOSTLER_TRY(list(node));
        return add(node, Code::kCall, node.b);
    }
    return {};
  }

 private:
  std::size_t size() const { return program_.instructions.size(); }

  Result<void> add(const Node& node, Code code, std::size_t argument, std::size_t place = 0) {
    if (size() == kStepsMax)
      return fail(Errc::kInvalidArgument,
                  with_caret("the expression takes more than 1,000 steps", program_.text, node.at));
    program_.instructions.push_back({code, node.op, static_cast<std::uint16_t>(argument),
                                     static_cast<std::uint16_t>(place),
                                     static_cast<std::uint16_t>(node.at)});
    return {};
  }

  std::size_t add_constant(const Value& value) {
    program_.constants.push_back(value);
    return program_.constants.size() - 1;
  }

  /// The jump that was added last before `from` leads to here.
  void land(std::size_t from) {
    program_.instructions[from - 1].argument = static_cast<std::uint16_t>(size() - from);
  }

  Result<void> list(const Node& node) {
    for (const NodeId id : std::span(tree_.lists).subspan(node.a, node.b)) HOSTLER_TRY(emit(id));
    return {};
  }

  Result<void> binary(const Node& node) {
    if (node.op == Op::kCoalesce) return emit(node.a);  // no value is missing
    if (node.op == Op::kAnd || node.op == Op::kOr) {
      HOSTLER_TRY(emit(node.a));
      return shortcut(node, node.op == Op::kAnd ? Code::kJumpIfFalse : Code::kJumpIfTrue, node.b);
    }
    if (node.op == Op::kIn && is_span(node)) return in_span(node);
    HOSTLER_TRY(emit(node.a));
    HOSTLER_TRY(emit(node.b));
    HOSTLER_TRY(add(node, node.op == Op::kRange ? Code::kRange : Code::kBinary, 0));
    const bool ints =
        tree_.nodes[node.a].type == Type::kInt && tree_.nodes[node.b].type == Type::kInt;
    if (node.op == Op::kEqual && ints) program_.instructions.back().op = Op::kEqualInts;
    return {};
  }

  /// What was emitted before decides alone, or `other` in its place.
  Result<void> shortcut(const Node& node, Code jump, NodeId other) {
    HOSTLER_TRY(add(node, jump, 0));
    const std::size_t from = size();
    HOSTLER_TRY(add(node, Code::kPop, 0));
    HOSTLER_TRY(emit(other));
    land(from);
    return {};
  }

  /// A whole number `in` a range with known ends: expr makes no range of it.
  [[nodiscard]] bool is_span(const Node& node) const {
    const Node& range = tree_.nodes[node.b];
    if (tree_.nodes[node.a].type != Type::kInt) return false;
    if (range.kind != Node::Kind::kBinary || range.op != Op::kRange) return false;
    const auto known = [this](NodeId id) {
      const Node& end = tree_.nodes[id];
      return end.kind == Node::Kind::kLiteral && end.value.tag == Tag::kInt;
    };
    return known(range.a) && known(range.b);
  }

  Result<void> in_span(const Node& node) {
    const Node& range = tree_.nodes[node.b];
    const std::size_t begin = size();
    HOSTLER_TRY(emit(node.a));
    const std::size_t from = add_constant(tree_.nodes[range.a].value);
    const std::size_t to = add_constant(tree_.nodes[range.b].value);
    if (!makes_elements(begin)) return add(node, Code::kInSpan, from);
    // expr computes the left side again for the upper end, and counts again what it makes.
    HOSTLER_TRY(add(node, Code::kPush, from));
    HOSTLER_TRY(add(node, Code::kBinary, 0));
    program_.instructions.back().op = Op::kMoreOrEqual;
    HOSTLER_TRY(add(node, Code::kJumpIfFalse, 0));
    const std::size_t jump = size();
    HOSTLER_TRY(add(node, Code::kPop, 0));
    HOSTLER_TRY(emit(node.a));
    HOSTLER_TRY(add(node, Code::kPush, to));
    HOSTLER_TRY(add(node, Code::kBinary, 0));
    program_.instructions.back().op = Op::kLessOrEqual;
    land(jump);
    return {};
  }

  [[nodiscard]] bool makes_elements(std::size_t since) const {
    return std::any_of(program_.instructions.begin() + static_cast<std::ptrdiff_t>(since),
                       program_.instructions.end(), [](const Instruction& each) {
                         return each.code == Code::kRange || each.code == Code::kArray;
                       });
  }

  Result<void> choice(const Node& node) {
    HOSTLER_TRY(emit(node.a));
    HOSTLER_TRY(add(tree_.nodes[node.a], Code::kJumpIfFalse, 0));
    const std::size_t otherwise = size();
    HOSTLER_TRY(add(node, Code::kPop, 0));
    HOSTLER_TRY(emit(node.b));
    HOSTLER_TRY(add(node, Code::kJump, 0));
    const std::size_t end = size();
    land(otherwise);
    HOSTLER_TRY(add(node, Code::kPop, 0));
    HOSTLER_TRY(emit(node.c));
    land(end);
    return {};
  }

  Result<void> array(const Node& node) {
    if (!node.constant) {
      HOSTLER_TRY(list(node));
      HOSTLER_TRY(add(node, Code::kArray, node.b, elements_));
      elements_ += node.b;
      return {};
    }
    const std::size_t first = program_.constants.size();
    for (const NodeId id : std::span(tree_.lists).subspan(node.a, node.b))
      add_constant(tree_.nodes[id].value);
    return add(node, Code::kFixedArray, node.b, first);
  }

  const Tree& tree_;
  Program& program_;
  std::size_t elements_ = 0;  ///< Of arrays so far. Each is made once at most, and has its place.
};

}  // namespace

Result<Compiled> compile(std::string_view text, std::span<const std::string> metrics, Wants wants,
                         const Grammar& grammar) {
  Tree tree = HOSTLER_TRY(Parser(text, metrics, grammar).parse());
  HOSTLER_TRY(check_types(tree, text, wants));
  HOSTLER_TRY(fold(tree, text));
  Compiled out{std::move(tree.inputs), {std::string(text), {}, {}, wants}};
  out.program.instructions.reserve(tree.nodes.size() + 1);
  HOSTLER_TRY(Compiler(tree, out.program).emit(static_cast<NodeId>(tree.nodes.size() - 1)));
  return out;
}

}  // namespace hostler::expression

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/expression/expression.h"
#include "core/expression/value.h"

/// The tree of an expression: what the parser makes, the checker types, the folder simplifies, and
/// the compiler reads.
namespace hostler::expression {

/// The type as far as it is known before a value is computed; kAny: it is not known. kNone: folded;
/// expr forgets it then too.
enum class Type : std::uint8_t { kNone, kInt, kFloat, kBool, kArray, kRange, kAny };

enum class Op : std::uint8_t {
  // Two operands.
  kOr,
  kAnd,
  kCoalesce,
  kEqual,
  kNotEqual,
  kLess,
  kMore,
  kLessOrEqual,
  kMoreOrEqual,
  kIn,
  kRange,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kPower,
  kEqualInts,  ///< Both operands have to be whole: expr's shortcut, and so a refusal.
  kInInts,     ///< The left operand has to be whole: likewise.
  // One operand.
  kNot,
  kNegate,
  kPlus,
  // Functions.
  kLen,
  kAbs,
  kCeil,
  kFloor,
  kRound,
  kInt,
  kFloat,
  kSum,
  kMean,
  kMedian,
  kMin,
  kMax,
  kClamp,
};

using NodeId = std::uint32_t;

struct Node {
  enum class Kind : std::uint8_t {
    kLiteral,   ///< value
    kInput,     ///< a: its index in Tree::inputs
    kVariable,  ///< a: its slot; b: the node of its value
    kLet,       ///< a: its slot; b: the value; c: what follows
    kUnary,     ///< op; a
    kBinary,    ///< op; a and b
    kChoice,    ///< a ? b : c; `a ?: c` has b equal to a
    kArray,     ///< the nodes of Tree::lists from a on, b of them
    kCall,      ///< op; likewise
  };
  Kind kind{};
  Op op{};
  Type type = Type::kNone;
  Type element = Type::kNone;  ///< Of an array literal whose elements have one type.
  bool constant = false;       ///< Of an array literal of numbers that are known.
  std::uint32_t at = 0;        ///< Where in the text errors point to.
  NodeId a = 0, b = 0, c = 0;
  Value value{};
};

/// No node stands before one that it refers to, so passes are loops. The root is the last one.
struct Tree {
  std::vector<Node> nodes;
  std::vector<NodeId> lists;
  std::vector<Input> inputs;
};

}  // namespace hostler::expression

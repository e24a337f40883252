#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/expression/limits.h"
#include "core/expression/syntax.h"
#include "core/expression/value.h"

namespace hostler::expression {

/// One step of the stack machine. Jumps go forward only, so a program ends after its length.
struct Instruction {
  enum class Code : std::uint8_t {
    kPush,        ///< argument: the index of a constant
    kFloatInput,  ///< argument: the index of an input
    kIntInput,
    kStore,  ///< argument: a slot; takes the value
    kLoad,
    kPop,
    kJump,        ///< argument: how many instructions to leave out
    kJumpIfTrue,  ///< Leaves the value; likewise.
    kJumpIfFalse,
    kUnary,
    kBinary,
    kCall,  ///< argument: the number of values
    kRange,
    kArray,       ///< argument: the number of elements; `place`: where they stay
    kFixedArray,  ///< argument: the number of constants; `place`: the first one
    kInSpan,      ///< argument: the constant `from`; the next one is `to`
  };
  Code code{};
  Op op{};
  std::uint16_t argument = 0;
  std::uint16_t place = 0;
  std::uint16_t at = 0;  ///< Where in the text errors point to.
};

/// A compiled expression.
struct Program {
  std::string text;  ///< For messages.
  std::vector<Instruction> instructions;
  std::vector<Value> constants;
  Wants wants{};

  /// See Expression::evaluate().
  [[nodiscard]] Result<double> run(std::span<const double> inputs) const;
};

}  // namespace hostler::expression

#include "core/expression/program.h"

#include <algorithm>
#include <array>

#include "core/expression/caret.h"
#include "core/expression/compute.h"

namespace hostler::expression {
namespace {

/// The memory of one evaluation. Its arrays are not initialised: most of them is never used.
class Machine {
 public:
  Machine(const Program& program, std::span<const double> inputs)
      : program_(program), inputs_(inputs) {}

  /// Why there is no result; nullptr: it is result(). Stops at instruction().
  const char* run() {
    const std::size_t size = program_.instructions.size();
    for (next_ = 0; next_ < size; ++next_)
      if (const char* const problem = step(program_.instructions[next_])) return problem;
    return nullptr;
  }

  [[nodiscard]] const Value& result() const { return stack_[0]; }
  [[nodiscard]] const Instruction& instruction() const { return program_.instructions[next_]; }

 private:
  using Code = Instruction::Code;

  void push(const Value& value) { stack_[top_++] = value; }
  Value& last() { return stack_[top_ - 1]; }

  const char* step(const Instruction& now) {
    switch (now.code) {
      case Code::kPush:
        push(program_.constants[now.argument]);
        return nullptr;
      case Code::kFloatInput:
        push(of_float(inputs_[now.argument]));
        return nullptr;
      case Code::kIntInput:
        push(of_int(to_int(inputs_[now.argument])));
        return nullptr;
      case Code::kStore:
        variables_[now.argument] = stack_[--top_];
        return nullptr;
      case Code::kLoad:
        push(variables_[now.argument]);
        return nullptr;
      case Code::kPop:
        --top_;
        return nullptr;
      case Code::kJump:
        next_ += now.argument;
        return nullptr;
      case Code::kJumpIfTrue:
        return jump(now, true);
      case Code::kJumpIfFalse:
        return jump(now, false);
      case Code::kUnary:
        return compute(now.op, last(), last());
      case Code::kBinary:
        --top_;
        return compute(now.op, last(), stack_[top_], last());
      case Code::kCall:
        return call(now);
      case Code::kRange:
        --top_;
        return make_range(last(), stack_[top_], last(), made_);
      case Code::kArray:
        return make_array(now);
      case Code::kFixedArray:
        push(of_array(program_.constants.data() + now.place, now.argument));
        return nullptr;
      case Code::kInSpan:
        return in_span(now);
    }
    return nullptr;
  }

  const char* jump(const Instruction& now, bool when) {
    if (last().tag != Tag::kBool) return "this has to be a boolean";
    if (last().truth == when) next_ += now.argument;
    return nullptr;
  }

  const char* call(const Instruction& now) {
    top_ -= now.argument;
    Value& first = stack_[top_++];
    return compute(now.op, std::span(&first, now.argument), first, looked_at_);
  }

  const char* make_array(const Instruction& now) {
    made_ += now.argument;
    if (made_ >= kElementsMax) return "this array is too large beside what was made before";
    top_ -= now.argument;
    Value* const kept = elements_.data() + now.place;
    std::copy_n(stack_.data() + top_, now.argument, kept);
    push(of_array(kept, now.argument));
    return nullptr;
  }

  /// As `from <= x and x <= to`.
  const char* in_span(const Instruction& now) {
    const Value value = last();
    const Value& to = program_.constants[now.argument + 1U];
    Value above{};
    if (const char* const problem =
            compute(Op::kMoreOrEqual, value, program_.constants[now.argument], above))
      return problem;
    if (above.truth) return compute(Op::kLessOrEqual, value, to, last());
    last() = above;
    return nullptr;
  }

  const Program& program_;
  std::span<const double> inputs_;
  std::size_t next_ = 0, top_ = 0;
  std::uint64_t made_ = 0, looked_at_ = 0;
  std::array<Value, kStepsMax> stack_;
  std::array<Value, kStepsMax> elements_;
  std::array<Value, kDepthMax> variables_;
};

}  // namespace

Result<double> Program::run(std::span<const double> inputs) const {
  Machine machine(*this, inputs);
  if (const char* const problem = machine.run())
    return fail(Errc::kInvalidArgument, with_caret(problem, text, machine.instruction().at));
  const Value& out = machine.result();
  if (wants == Wants::kNumber && is_number(out)) return to_float(out);
  if (wants == Wants::kBoolean && out.tag == Tag::kBool) return out.truth ? 1 : 0;
  return fail(Errc::kInvalidArgument,
              with_caret(wants == Wants::kNumber ? "the result is not a number"
                                                 : "the result is not a boolean",
                         text, instructions.back().at));
}

}  // namespace hostler::expression

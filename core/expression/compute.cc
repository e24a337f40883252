#include "core/expression/compute.h"

#include <cmath>

#include "core/expression/limits.h"
#include "core/expression/lists.h"
#include "core/expression/power.h"

namespace hostler::expression {
namespace {

constexpr const char* kNotNumbers = "this takes numbers only";

std::int64_t wrapped(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }
std::uint64_t bits(const Value& value) { return static_cast<std::uint64_t>(value.whole); }

Value arithmetic(Op op, const Value& a, const Value& b) {
  if (a.tag == Tag::kInt && b.tag == Tag::kInt) {
    if (op == Op::kAdd) return of_int(wrapped(bits(a) + bits(b)));
    if (op == Op::kSubtract) return of_int(wrapped(bits(a) - bits(b)));
    return of_int(wrapped(bits(a) * bits(b)));
  }
  const double x = to_float(a), y = to_float(b);
  if (op == Op::kAdd) return of_float(x + y);
  if (op == Op::kSubtract) return of_float(x - y);
  return of_float(x * y);
}

bool less(const Value& a, const Value& b) {
  if (a.tag == Tag::kInt && b.tag == Tag::kInt) return a.whole < b.whole;
  return to_float(a) < to_float(b);
}
bool less_or_equal(const Value& a, const Value& b) {
  if (a.tag == Tag::kInt && b.tag == Tag::kInt) return a.whole <= b.whole;
  return to_float(a) <= to_float(b);
}

const char* remainder(const Value& a, const Value& b, Value& out) {
  if (a.tag != Tag::kInt || b.tag != Tag::kInt)
    return "a remainder is of whole numbers, which int() makes";
  if (b.whole == 0) return "this is a remainder by zero";
  out = of_int(b.whole == -1 ? 0 : a.whole % b.whole);
  return nullptr;
}

const char* membership(Op op, const Value& needle, const Value& list, Value& out) {
  if (!is_list(list)) return "on the right of 'in' goes an array";
  if (op == Op::kInInts && needle.tag != Tag::kInt)
    return "expr finds only whole numbers in an array of them; write float() around this one";
  out = of_bool(contains(list, needle));
  return nullptr;
}

/// The largest, or the least; of equal ones the first. A NaN stays where it is first, and is left
/// out elsewhere.
const char* extreme(bool largest, std::span<const Value> values, Value& out) {
  Value best = values[0];
  for (const Value& value : values.subspan(1)) {
    if (!is_number(best) || !is_number(value)) return kNotNumbers;
    if (largest ? less(best, value) : less(value, best)) best = value;
  }
  out = best;
  return nullptr;
}

const char* clamp(const Value& value, const Value& low, const Value& high, Value& out) {
  if (!is_number(value) || !is_number(low) || !is_number(high)) return kNotNumbers;
  if (!less_or_equal(low, high)) return "the lower limit of clamp() is above the upper one";
  const bool whole = value.tag == Tag::kInt && low.tag == Tag::kInt && high.tag == Tag::kInt;
  const Value inside = less(value, low) ? low : less(high, value) ? high : value;
  out = whole ? inside : of_float(to_float(inside));
  return nullptr;
}

Value absolute(const Value& value) {
  if (value.tag == Tag::kInt) return value.whole < 0 ? of_int(wrapped(0 - bits(value))) : value;
  return value.number < 0 ? of_float(-value.number) : value;
}

const char* of_number(Op op, const Value& value, Value& out) {
  if (!is_number(value)) return kNotNumbers;
  switch (op) {
    case Op::kAbs:
      out = absolute(value);
      break;
    case Op::kCeil:
      out = of_float(std::ceil(to_float(value)));
      break;
    case Op::kFloor:
      out = of_float(std::floor(to_float(value)));
      break;
    case Op::kRound:
      out = of_float(std::round(to_float(value)));
      break;
    case Op::kInt:
      out = of_int(to_int(value));
      break;
    default:
      out = of_float(to_float(value));
      break;
  }
  return nullptr;
}

}  // namespace

const char* compute(Op op, const Value& operand, Value& out) {
  if (op == Op::kNot) {
    if (operand.tag != Tag::kBool) return "'not' takes a boolean";
    out = of_bool(!operand.truth);
  } else if (op == Op::kNegate) {
    if (!is_number(operand)) return kNotNumbers;
    out = operand.tag == Tag::kInt ? of_int(wrapped(0 - bits(operand))) : of_float(-operand.number);
  } else {
    out = operand;
  }
  return nullptr;
}

const char* compute(Op op, const Value& a, const Value& b, Value& out) {
  if (op == Op::kEqual || op == Op::kNotEqual) {
    out = of_bool(equal(a, b) == (op == Op::kEqual));
    return nullptr;
  }
  if (op == Op::kEqualInts) {
    if (a.tag != Tag::kInt || b.tag != Tag::kInt)
      return "expr takes these for whole numbers, and one is not; write float() around it";
    out = of_bool(a.whole == b.whole);
    return nullptr;
  }
  if (op == Op::kIn || op == Op::kInInts) return membership(op, a, b, out);
  if (op == Op::kModulo) return remainder(a, b, out);
  if (!is_number(a) || !is_number(b)) return kNotNumbers;
  switch (op) {
    case Op::kLess:
      out = of_bool(less(a, b));
      break;
    case Op::kMore:
      out = of_bool(less(b, a));
      break;
    case Op::kLessOrEqual:
      out = of_bool(less_or_equal(a, b));
      break;
    case Op::kMoreOrEqual:
      out = of_bool(less_or_equal(b, a));
      break;
    case Op::kDivide:
      out = of_float(to_float(a) / to_float(b));
      break;
    case Op::kPower:
      out = of_float(power(to_float(a), to_float(b)));
      break;
    default:
      out = arithmetic(op, a, b);
      break;
  }
  return nullptr;
}

const char* compute(Op op, std::span<const Value> arguments, Value& out, std::uint64_t& looked_at) {
  const Value& first = arguments[0];
  switch (op) {
    case Op::kLen:
    case Op::kSum:
    case Op::kMean:
    case Op::kMedian:
      return summary(op, first, out, looked_at);
    case Op::kMin:
    case Op::kMax:
      return extreme(op == Op::kMax, arguments, out);
    case Op::kClamp:
      return clamp(first, arguments[1], arguments[2], out);
    default:
      return of_number(op, first, out);
  }
}

const char* make_range(const Value& first, const Value& last, Value& out, std::uint64_t& made) {
  if (!is_number(first) || !is_number(last)) return "a range is between whole numbers";
  const std::int64_t from = to_int(first), to = to_int(last);
  // As expr, which lets it wrap: the range of all numbers is empty.
  const std::int64_t size =
      wrapped(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) + 1);
  if (size > 0) made += static_cast<std::uint64_t>(size);
  if (made >= kElementsMax) return "this range is too large: expr's limit is 1,000,000 elements";
  out = of_range(from, size > 0 ? static_cast<std::uint32_t>(size) : 0);
  return nullptr;
}

}  // namespace hostler::expression

#pragma once

#include <span>

#include "core/expression/syntax.h"
#include "core/expression/value.h"

/// Operators and functions of values, as expr computes them. Each returns why there is no
/// result, a text that lives for ever; nullptr: it is in `out`, which may be an operand.
namespace hostler::expression {

/// Operators with one operand.
const char* compute(Op op, const Value& operand, Value& out);
/// Those with two, but not those that may leave one out (`and or ??`), and not `..`.
const char* compute(Op op, const Value& a, const Value& b, Value& out);
/// Functions. `looked_at` counts elements that had to be looked at one by one.
const char* compute(Op op, std::span<const Value> arguments, Value& out, std::uint64_t& looked_at);
/// first..last; `made` counts elements.
const char* make_range(const Value& first, const Value& last, Value& out, std::uint64_t& made);

}  // namespace hostler::expression

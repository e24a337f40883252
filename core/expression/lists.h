#pragma once

#include <cstdint>

#include "core/expression/syntax.h"
#include "core/expression/value.h"

namespace hostler::expression {

/// len, sum, mean and median of `list`, as compute(). Ranges are mostly computed without a look
/// at their elements.
const char* summary(Op op, const Value& list, Value& out, std::uint64_t& looked_at);

}  // namespace hostler::expression

#pragma once

#include <string_view>

#include "core/base/error.h"
#include "core/expression/syntax.h"

namespace hostler::expression {

/// Computes what is constant, exactly as far as expr does: that decides what is refused. `x and
/// false` does not compute x, and `5 % 0` is an error also where it would never be computed.
Result<void> fold(Tree& tree, std::string_view text);

}  // namespace hostler::expression

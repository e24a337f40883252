#pragma once

#include <string_view>

#include "core/base/error.h"
#include "core/expression/syntax.h"

namespace hostler::expression {

/// Gives each node its type, by expr's rules: `1..m` is refused, as m is a float. `text`: for
/// messages.
Result<void> check_types(Tree& tree, std::string_view text, Wants wants);

}  // namespace hostler::expression

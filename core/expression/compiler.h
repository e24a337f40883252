#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/expression/grammar.h"
#include "core/expression/program.h"

namespace hostler::expression {

struct Compiled {
  std::vector<Input> inputs;
  Program program;
};

/// See Expression::compile(). `grammar` is another one than kGrammar only in tests, which show that
/// they would notice.
Result<Compiled> compile(std::string_view text, std::span<const std::string> metrics, Wants wants,
                         const Grammar& grammar);

}  // namespace hostler::expression

#include "core/expression/expression.h"

#include <utility>

#include "core/base/assert.h"
#include "core/expression/compiler.h"

namespace hostler::expression {

Result<Expression> Expression::compile(std::string_view text, std::span<const std::string> metrics,
                                       Wants wants) {
  Compiled compiled = HOSTLER_TRY(expression::compile(text, metrics, wants, kGrammar));
  Expression out;
  out.inputs_ = std::move(compiled.inputs);
  out.program_ = std::make_shared<const Program>(std::move(compiled.program));
  return out;
}

Result<double> Expression::evaluate(std::span<const double> values) const {
  HOSTLER_ASSERT(program_ != nullptr, "only a compiled expression is evaluated");
  HOSTLER_ASSERT(values.size() == inputs_.size(), "each input has a value");
  return program_->run(values);
}

}  // namespace hostler::expression

#include "core/expression/expression.h"

namespace hostler::expression {

Result<Expression> Expression::compile(std::string_view, std::span<const std::string>, Wants) {
  return tl::unexpected(Error{Errc::kInvalidArgument, "not built yet", {}});
}

Result<double> Expression::evaluate(std::span<const double>) const {
  return tl::unexpected(Error{Errc::kInvalidArgument, "not built yet", {}});
}

bool is_taken(std::string_view) { return false; }

}  // namespace hostler::expression

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/expression/expression.h"

/// What tests of expressions share.
namespace hostler::expression {

inline const std::vector<std::string> kMetrics{"m", "rps", "queue_depth"};

inline Result<Expression> compiled(std::string_view text, Wants wants = Wants::kNumber) {
  return Expression::compile(text, kMetrics, wants);
}

/// Inputs by the order in which the text names them; those without a value are 0.
inline Result<double> result_of(std::string_view text, std::vector<double> values = {},
                                Wants wants = Wants::kNumber) {
  const Expression expression = HOSTLER_TRY(compiled(text, wants));
  values.resize(expression.inputs().size());
  return expression.evaluate(values);
}

inline double value_of(std::string_view text, const std::vector<double>& values = {}) {
  const auto out = result_of(text, values);
  EXPECT_TRUE(out) << text << "\n" << (out ? "" : out.error().message);
  return out.value_or(-12345);
}

inline bool truth_of(std::string_view text, const std::vector<double>& values = {}) {
  const auto out = result_of(text, values, Wants::kBoolean);
  EXPECT_TRUE(out) << text << "\n" << (out ? "" : out.error().message);
  return out.value_or(0) == 1;
}

/// The message without the lines that show the place; "" if nothing is refused.
inline std::string refusal_of(std::string_view text, const std::vector<double>& values = {},
                              Wants wants = Wants::kNumber) {
  const auto out = result_of(text, values, wants);
  if (out) return "";
  return out.error().message.substr(0, out.error().message.find('\n'));
}

}  // namespace hostler::expression

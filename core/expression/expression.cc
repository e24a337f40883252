#include "core/expression/expression.h"

#include <utility>

#include "core/base/assert.h"
#include "core/base/units.h"
#include "core/expression/compiler.h"

namespace hostler::expression {

std::string to_text(const Input& input) {
  const auto over = [&](const std::string& function) {
    return function + "(" + input.name + ", \"" + exact_duration(input.window) + "\")";
  };
  switch (input.kind) {
    case Input::Kind::kMetric:
      return input.name;
    case Input::Kind::kAge:
      return "age(" + input.name + ")";
    case Input::Kind::kAvgOver:
      return over("avg_over");
    case Input::Kind::kMaxOver:
      return over("max_over");
    case Input::Kind::kCreated:
      return "created";
    case Input::Kind::kStarted:
      return "started";
    case Input::Kind::kIdle:
      return "idle";
    case Input::Kind::kBusy:
      return "busy";
    case Input::Kind::kQueued:
      return "queued";
    case Input::Kind::kHour:
      return "hour(\"" + input.name + "\")";
    case Input::Kind::kWeekday:
      return "weekday(\"" + input.name + "\")";
  }
  return {};
}

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

#include "core/expression/expression.h"

#include <cmath>
#include <limits>

#include "core/base/text.h"
#include "tests/fuzz/target.h"

/// Texts of the configuration that are compiled, and evaluated with numbers from outside.
namespace hostler::fuzz {
namespace {

using expression::Expression;
using expression::Wants;

void check_error(const Error& error) {
  promise(error.code == Errc::kInvalidArgument || error.code == Errc::kTooLarge,
          "what is wrong with a text is its author's to change", error.message);
  promise(error.message.size() < 2'000 && is_utf8(error.message), "a message is short text",
          error.message);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void evaluate(const Expression& compiled, double value, Wants wants) {
  const std::vector<double> values(compiled.inputs().size(), value);
  const auto out = compiled.evaluate(values), again = compiled.evaluate(values);
  promise(out.has_value() == again.has_value(), "equal values have equal results");
  if (!out) return check_error(out.error());
  promise(same(*out, *again), "equal values have equal results");
  promise(wants == Wants::kNumber || *out == 0 || *out == 1, "a boolean is 0 or 1");
}

void check(std::string_view text, Wants wants) {
  static const std::vector<std::string> kMetrics{"m", "rps", "queue_depth"};
  const auto compiled = Expression::compile(text, kMetrics, wants);
  if (!compiled) return check_error(compiled.error());
  promise(text.size() <= 8192, "a text is bounded");
  for (std::size_t i = 0; i < compiled->inputs().size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      promise(!(compiled->inputs()[i] == compiled->inputs()[k]), "each input is there once");
  for (const double value : {0.0, 3.0, -2.5, 1e300, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()})
    evaluate(*compiled, value, wants);
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  const std::string_view text = fuzz::as_text(data, size);
  fuzz::check(text, expression::Wants::kNumber);
  fuzz::check(text, expression::Wants::kBoolean);
  return 0;
}

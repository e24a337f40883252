// Compiling and evaluating expressions; docs/performance.md has the targets. The texts are those of
// tests/expression/oracle/bench.go, which measures expr with them.

#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression/expression.h"

namespace hostler::expression {
namespace {

constexpr std::array<std::string_view, 4> kTexts{
    "ceil(queue_depth / 100)", "min(50, (m + rps + queue_depth) / 100)",
    "started < 6 and queued in 8..17 ? 5 : 0",
    "let need = max(queue_depth / 20, rps / 100); need > 100 ? 100 : ceil(need * 1.2)"};

const std::vector<std::string>& metrics() {
  static const std::vector<std::string> kMetrics{"m", "rps", "queue_depth", "x1"};
  return kMetrics;
}

std::string_view text_of(benchmark::State& state) {
  const std::string_view text = kTexts.at(static_cast<std::size_t>(state.range(0)));
  state.SetLabel(std::string(text));
  return text;
}

void compile(benchmark::State& state) {
  const std::string_view text = text_of(state);
  for ([[maybe_unused]] auto turn : state)
    benchmark::DoNotOptimize(Expression::compile(text, metrics()));
}
BENCHMARK(compile)->DenseRange(0, kTexts.size() - 1);

void evaluate(benchmark::State& state) {
  const auto expression = Expression::compile(text_of(state), metrics());
  const std::vector<double> values(expression->inputs().size(), 8);
  for ([[maybe_unused]] auto turn : state) benchmark::DoNotOptimize(expression->evaluate(values));
}
BENCHMARK(evaluate)->DenseRange(0, kTexts.size() - 1);

}  // namespace
}  // namespace hostler::expression

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/unit/expression/expressions.h"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

// Counts what the whole program allocates.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const out = std::malloc(size)) return out;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace hostler::expression {
namespace {

TEST(ExpressionAllocations, AreNoneInAnEvaluationWithAResult) {
  for (const auto* text :
       {"ceil(m / 100)", "let a = [m, 2, rps]; median(a) + sum(a) + mean(1..9999) + len(a)",
        "clamp(m ** 0.3, 1, 5) + (m in [1, rps] ? max(1, m, rps) : 0)",
        "weekday('UTC') < 6 and hour('UTC') in 8..17 ? 5 : avg_over(m, '5m')"}) {
    const auto expression = compiled(text);
    ASSERT_TRUE(expression) << text;
    const std::vector<double> values(expression->inputs().size(), 4);
    const std::size_t before = allocations;
    const auto out = expression->evaluate(values);
    EXPECT_EQ(allocations, before) << text;
    EXPECT_TRUE(out) << text;
  }
}

}  // namespace
}  // namespace hostler::expression

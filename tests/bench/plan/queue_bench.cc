// The queue with a million jobs of which each has needs of its own (the quota on shapes lifted).

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <optional>

#include "core/demand/queue.h"

namespace hostler::scheduler {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// A job ends, and the next one is looked for among jobs of which each has needs of its own. The
/// last one alone has room. `lacks` of the others: 0 the same resource, 1 one this and one that.
void next_of_distinct(benchmark::State& state) {
  const std::int64_t jobs = state.range(0), users = state.range(1), lacks = state.range(2);
  std::size_t kept = 0;
  {
    demand::Queue queue;
    const std::size_t before = mallinfo2().uordblks;
    for (std::int64_t i = 0; i < jobs; ++i) {
      const bool is_last = i == jobs - 1, is_wide = lacks == 0 || i % 2 == 0;
      model::WorkShape shape;
      shape.needs = {.vcpus = is_last || !is_wide ? 1 : 2,
                     .gpus = 0,
                     .ram = (is_last || is_wide ? kGiB : 2 * kGiB) - i,
                     .scratch = 0};
      const auto arrival = static_cast<std::uint64_t>(i) + 1;
      queue.push(queue.intern(shape), {.arrival = arrival, .work = {arrival}, .since = {}},
                 static_cast<demand::PrincipalId>(i % users));
    }
    state.counters["MB"] = static_cast<double>(mallinfo2().uordblks - before) / 1e6;
    const model::Resources room{.vcpus = 1, .gpus = 0, .ram = kGiB, .scratch = 0};
    std::optional<demand::ClassId> found;
    for (auto _ : state)
      found = queue.next([](const demand::Queue::Class&) { return true; }, {}, room);
    state.counters["found"] = found ? 1 : 0;
    while (queue.size() > 0) {
      const demand::ClassId cls = queue.order().begin()->cls;
      queue.pop(cls);
      queue.release(cls);
    }
    kept = mallinfo2().uordblks - before;
  }
  state.counters["kept MB"] = static_cast<double>(kept) / 1e6;
}

BENCHMARK(next_of_distinct)
    ->ArgNames({"jobs", "users", "lacks"})
    ->Args({1'000, 1, 0})
    ->Args({1'000'000, 1, 0})
    ->Args({1'000'000, 1, 1})
    ->Args({1'000'000, 1000, 0})
    ->Args({1'000'000, 1000, 1})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hostler::scheduler

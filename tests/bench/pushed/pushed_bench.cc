// The cost of one push before the plan: its checks, its demand, and the handshake; 1,000 agents, of
// which half are busy and a tenth is to go, and 10,000 tasks. The target is in docs/performance.md.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/pushed/check_push.h"
#include "core/pushed/demand.h"
#include "core/pushed/handshake.h"

namespace hostler::pushed {
namespace {

using Ids = std::set<model::InstanceId>;

constexpr std::uint64_t kAgents = 1'000;

/// Tasks of 0 to `slots_max` slots, half of them of one of 100 groups.
model::Push push_of(std::uint64_t tasks, std::uint64_t slots_max) {
  Random random(1);
  model::Push out;
  out.session = "s";
  out.sequence = 1;
  for (std::uint64_t a = 0; a < kAgents; ++a)
    out.agents.push_back({"h-" + std::to_string(a), a % 2 == 0});
  for (std::uint64_t g = 0; g < 100; ++g) out.group_max["group-" + std::to_string(g)] = 64;
  for (std::uint64_t t = 0; t < tasks; ++t)
    out.tasks.push_back({"task-" + std::to_string(t),
                         static_cast<std::int32_t>(random.below(slots_max + 1)),
                         t % 2 == 0 ? "" : "group-" + std::to_string(random.below(100))});
  return out;
}

Ids every(std::uint64_t nth) {
  Ids out;
  for (std::uint64_t a = 0; a < kAgents; a += nth) out.insert(model::InstanceId{a + 1});
  return out;
}

void run(benchmark::State& state, std::uint64_t slots_max, const std::vector<std::int32_t>& sizes) {
  const auto push = push_of(static_cast<std::uint64_t>(state.range(0)), slots_max);
  const Ids busy = every(2), going = every(10);
  Handshake handshake(answers_base(1));
  for ([[maybe_unused]] auto turn : state) {
    benchmark::DoNotOptimize(check_push(push));
    benchmark::DoNotOptimize(demand_of(push, sizes, "gpu", {}));
    handshake.planned(going);
    handshake.pushed(handshake.last(), busy, {});
    benchmark::DoNotOptimize(handshake.answer());
  }
}

void one_size(benchmark::State& state) { run(state, 16, {8}); }
BENCHMARK(one_size)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void three_sizes(benchmark::State& state) { run(state, 16, {2, 4, 8}); }
BENCHMARK(three_sizes)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// Nearly each task has slots of its own.
void distinct_slots(benchmark::State& state) { run(state, 1'000'000, {1, 1'000'000}); }
BENCHMARK(distinct_slots)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// Nearly each task has slots of its own, and takes many hosts.
void distinct_wide(benchmark::State& state) { run(state, 1'000'000, {1, 2}); }
BENCHMARK(distinct_wide)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hostler::pushed

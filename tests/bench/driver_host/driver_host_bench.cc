// What it costs that a driver runs in a process of its own. Each figure is beside the one that it
// is to be compared with: the same call in this process, or two processes that only pass messages
// of the same sizes to and fro.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <vector>

#include "core/driver_host/parent/process_set.h"
#include "core/driver_host/wire/socket.h"
#include "core/plugin_host/discovery.h"
#include "core/plugin_host/in_process_set.h"

namespace hostler::driver_host {
namespace {

using plugin_host::DriverSet;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRequestBytes = 150, kAnswerBytes = 90;  // of a destroy, with heads

plugin_host::Manifest manifest() {
  const auto found = plugin_host::discover({HOSTLER_BENCH_DRIVERS}).find("records");
  if (!found) throw std::runtime_error(found.error().message);
  return *found;
}

void open(DriverSet& set) {
  std::promise<void> opened;
  set.open({}, 10s, [&](const auto& result) {
    if (!result) throw std::runtime_error(result.error().message);
    opened.set_value();
  });
  opened.get_future().wait();
}

std::unique_ptr<DriverSet> in_process() {
  auto set = plugin_host::make_in_process_set(*plugin_host::DriverLibrary::load(manifest()));
  open(*set);
  return set;
}
std::unique_ptr<DriverSet> unopened() {
  ProcessOptions options;
  options.program = HOSTLER_DRIVER_HOST;
  return make_process_set("records", *plugin_host::check_library(manifest()), options);
}
std::unique_ptr<DriverSet> in_child() {
  auto set = unopened();
  open(*set);
  return set;
}

void destroy(DriverSet& set, const std::string& id) {
  std::promise<void> destroyed;
  set.destroy({.id = id, .expected_set_id = "s1", .idempotency_key = "", .reason = "benchmark"},
              60s, [&](const auto&) { destroyed.set_value(); });
  destroyed.get_future().wait();
}

/// Runs `once` again and again, and shows the 50th and 99th percentile in microseconds.
template <class Once>
void percentiles(benchmark::State& state, const Once& once) {
  std::vector<double> times;
  for (auto _ : state) {
    const auto began = Clock::now();
    once();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - began).count());
  }
  std::sort(times.begin(), times.end());
  state.counters["p50_us"] = times[times.size() / 2];
  state.counters["p99_us"] = times[times.size() * 99 / 100];
}

/// A process that answers each message, and a call that waits for the answer on its own thread.
void BM_PingPongOfProcesses(benchmark::State& state) {
  auto pair = *make_socket_pair();
  const pid_t child = ::fork();
  if (child == 0) {
    pair.ours.reset();
    std::string buffer(65536, '\0');
    const std::string answer(kAnswerBytes, 'a');
    while (receive_message(pair.theirs, buffer, true, false).what == Received::What::kMessage)
      (void)send_message(pair.theirs, answer, true);
    ::_exit(0);
  }
  pair.theirs.reset();
  std::string buffer(65536, '\0');
  const std::string request(kRequestBytes, 'r');
  percentiles(state, [&] {
    (void)send_message(pair.ours, request, true);
    (void)receive_message(pair.ours, buffer, true, false);
  });
  pair.ours.reset();
  ::waitpid(child, nullptr, 0);
}
BENCHMARK(BM_PingPongOfProcesses)->UseRealTime();

/// From the call to `done`, which runs on the set's thread.
template <class Make>
void destroy_to_done(benchmark::State& state, const Make& make) {
  const auto set = make();
  std::vector<double> times;
  for (auto _ : state) {
    std::promise<void> destroyed;
    const auto began = Clock::now();
    set->destroy(
        {.id = "i-1", .expected_set_id = "s1", .idempotency_key = "", .reason = "benchmark"}, 60s,
        [&](const auto&) {
          times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - began).count());
          destroyed.set_value();
        });
    destroyed.get_future().wait();
  }
  std::sort(times.begin(), times.end());
  state.counters["p50_us"] = times[times.size() / 2];
  state.counters["p99_us"] = times[times.size() * 99 / 100];
}
void BM_DestroyInAChild(benchmark::State& state) { destroy_to_done(state, in_child); }
BENCHMARK(BM_DestroyInAChild)->UseRealTime();
void BM_DestroyInThisProcess(benchmark::State& state) { destroy_to_done(state, in_process); }
BENCHMARK(BM_DestroyInThisProcess)->UseRealTime();

/// A list of 10,000 instances of 8 tags.
template <class Make>
void list_all(benchmark::State& state, const Make& make) {
  const auto set = make();
  for (auto _ : state) {
    std::promise<std::size_t> listed;
    set->list({}, 60s, [&](const auto& result) { listed.set_value(result ? result->size() : 0); });
    if (listed.get_future().get() != 10'000) state.SkipWithError("the list is not complete");
  }
}
void BM_ListOf10000InAChild(benchmark::State& state) { list_all(state, in_child); }
BENCHMARK(BM_ListOf10000InAChild)->UseRealTime()->Unit(benchmark::kMillisecond);
void BM_ListOf10000InThisProcess(benchmark::State& state) { list_all(state, in_process); }
BENCHMARK(BM_ListOf10000InThisProcess)->UseRealTime()->Unit(benchmark::kMillisecond);

/// From nothing to an open set, and its end.
void BM_StartOfAChild(benchmark::State& state) {
  std::vector<std::unique_ptr<DriverSet>> sets;
  percentiles(state, [&] {
    sets.push_back(unopened());
    open(*sets.back());
  });
}
BENCHMARK(BM_StartOfAChild)->UseRealTime()->Iterations(50)->Unit(benchmark::kMillisecond);

/// From a call that ends the process to the error of the call.
void BM_CrashIsNoticed(benchmark::State& state) {
  std::vector<double> times;
  for (auto _ : state) {
    state.PauseTiming();
    auto set = in_child();
    state.ResumeTiming();
    const auto began = Clock::now();
    destroy(*set, "crash");
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - began).count());
    state.PauseTiming();
    set.reset();
    state.ResumeTiming();
  }
  std::sort(times.begin(), times.end());
  state.counters["p50_us"] = times[times.size() / 2];
}
BENCHMARK(BM_CrashIsNoticed)->UseRealTime()->Iterations(30);

}  // namespace
}  // namespace hostler::driver_host

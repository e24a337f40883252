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
std::unique_ptr<DriverSet> unopened(ProcessOptions options = {}) {
  options.program = HOSTLER_DRIVER_HOST;
  return make_process_set("records", *plugin_host::check_library(manifest()), options);
}
std::unique_ptr<DriverSet> in_child(ProcessOptions options = {}) {
  auto set = unopened(std::move(options));
  open(*set);
  return set;
}

/// Returns when the call has ended, at `done`, which runs on the set's thread.
Clock::time_point destroy(DriverSet& set, const std::string& id, Duration timeout = 60s) {
  std::promise<Clock::time_point> done;
  set.destroy({.id = id, .expected_set_id = "s1", .idempotency_key = ""}, timeout,
              [&](const auto&) { done.set_value(Clock::now()); });
  return done.get_future().get();
}

/// Durations, of which the 50th and 99th percentile are shown in microseconds.
class Times {
 public:
  void add(Clock::duration time) {
    us_.push_back(std::chrono::duration<double, std::micro>(time).count());
  }
  void show(benchmark::State& state) {
    std::sort(us_.begin(), us_.end());
    state.counters["p50_us"] = us_[us_.size() / 2];
    state.counters["p99_us"] = us_[us_.size() * 99 / 100];
  }

 private:
  std::vector<double> us_;
};

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
  Times times;
  for (auto _ : state) {
    const auto began = Clock::now();
    (void)send_message(pair.ours, request, true);
    (void)receive_message(pair.ours, buffer, true, false);
    times.add(Clock::now() - began);
  }
  times.show(state);
  pair.ours.reset();
  ::waitpid(child, nullptr, 0);
}
BENCHMARK(BM_PingPongOfProcesses)->UseRealTime();

/// From the call to `done`.
template <class Make>
void destroy_to_done(benchmark::State& state, const Make& make) {
  const auto set = make();
  Times times;
  for (auto _ : state) {
    const auto began = Clock::now();
    times.add(destroy(*set, "i-1") - began);
  }
  times.show(state);
}
void BM_DestroyInAChild(benchmark::State& state) {
  destroy_to_done(state, [] { return in_child(); });
}
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
void BM_ListOf10000InAChild(benchmark::State& state) {
  list_all(state, [] { return in_child(); });
}
BENCHMARK(BM_ListOf10000InAChild)->UseRealTime()->Unit(benchmark::kMillisecond);
void BM_ListOf10000InThisProcess(benchmark::State& state) { list_all(state, in_process); }
BENCHMARK(BM_ListOf10000InThisProcess)->UseRealTime()->Unit(benchmark::kMillisecond);

/// From the manifest to an open set.
void BM_StartOfAChild(benchmark::State& state) {
  Times times;
  for (auto _ : state) {
    const auto began = Clock::now();
    const auto set = in_child();
    times.add(Clock::now() - began);
  }
  times.show(state);
}
BENCHMARK(BM_StartOfAChild)->UseRealTime()->Iterations(100)->Unit(benchmark::kMillisecond);

/// From a call that ends the process to the error of the call.
void BM_CrashIsNoticed(benchmark::State& state) {
  Times times;
  for (auto _ : state) {
    state.PauseTiming();
    auto set = in_child();
    state.ResumeTiming();
    const auto began = Clock::now();
    times.add(destroy(*set, "crash") - began);
    state.PauseTiming();
    set.reset();
    state.ResumeTiming();
  }
  times.show(state);
}
BENCHMARK(BM_CrashIsNoticed)->UseRealTime()->Iterations(100);

/// From the end of the grace time of a call that hangs until another process has answered a call.
void BM_HungChildIsReplaced(benchmark::State& state) {
  constexpr auto kTimeout = 20ms, kGrace = 20ms;
  Times times;
  for (auto _ : state) {
    const auto set = in_child({.hang = kGrace, .grace = kGrace});
    const auto grace_ends = Clock::now() + kTimeout + kGrace;
    destroy(*set, "hang", kTimeout);
    times.add(destroy(*set, "i-1") - grace_ends);
  }
  times.show(state);
}
BENCHMARK(BM_HungChildIsReplaced)->UseRealTime()->Iterations(50)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hostler::driver_host

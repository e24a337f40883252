// The cost of a driver call without the driver's own work: setup, checks of the rules, and result.
// Measured without and with the hand-over to the threads of a set. The target without it is 200 ns.
#include <benchmark/benchmark.h>

#include <future>

#include "core/plugin_host/calls.h"
#include "core/plugin_host/in_process_set.h"

namespace hostler::plugin_host {
namespace {

const hostler_rec* instance() {
  static const hostler_instance record = [] {
    hostler_instance i{};
    i.struct_size = sizeof i;
    i.kind = HOSTLER_REC_INSTANCE;
    i.id = HOSTLER_STR("i-0123456789abcdef0");
    i.idempotency_key = HOSTLER_STR("6f1c1f0e-52a5-4b5e-9c1a-0a53a1d2c3b4");
    return i;
  }();
  return reinterpret_cast<const hostler_rec*>(&record);
}

hostler_driver instant_driver() {
  hostler_driver d{};
  d.struct_size = sizeof d;
  d.threading = HOSTLER_THREAD_CONCURRENT;
  d.max_concurrency = 4;
  d.name = "instant";
  d.set_open = [](const hostler_host*, const hostler_set_config*, hostler_op*, hostler_set** out) {
    static int set = 0;
    *out = reinterpret_cast<hostler_set*>(&set);
    return HOSTLER_OK;
  };
  d.set_close = [](hostler_set*) {};
  d.set_info = [](hostler_set*, const hostler_set_info_req*, hostler_op* op) {
    hostler_set_info info{};
    info.struct_size = sizeof info;
    info.kind = HOSTLER_REC_SET_INFO;
    op->emit(op, reinterpret_cast<const hostler_rec*>(&info));
    return HOSTLER_OK;
  };
  d.list = [](hostler_set*, const hostler_list_req*, hostler_op* op) {
    op->emit(op, instance());
    return HOSTLER_OK;
  };
  d.destroy = [](hostler_set*, const hostler_destroy_req*, hostler_op*) { return HOSTLER_OK; };
  d.get_extension = [](const char*) -> const void* { return nullptr; };
  return d;
}

struct Quiet final : Operation::Listener {
  void on_ended(Operation&) override {}
  void on_late_return(Operation&) override {}
  void on_broken_rule(const Operation&, const std::string&) override {}
};

std::shared_ptr<Connection> connect() {
  return std::make_shared<Connection>(std::make_shared<DriverLibrary>("instant", instant_driver()));
}

template <class C, class T, class Request>
void call(benchmark::State& state, const Request& request) {
  const auto connection = connect();
  Quiet listener;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  for (auto _ : state) {
    const auto op =
        std::make_shared<C>(connection, listener, request,
                            [](model::CloudResult<T> result) { benchmark::DoNotOptimize(result); });
    op->set_deadline(deadline);
    op->run();
    op->deliver_result();
  }
}

void BM_DestroyWithoutHandOver(benchmark::State& state) {
  call<DestroyCall, DriverSet::Nothing>(state, model::DestroyRequest{});
}
BENCHMARK(BM_DestroyWithoutHandOver);

void BM_ListOfOneWithoutHandOver(benchmark::State& state) {
  call<ListCall, std::vector<model::ListedInstance>>(state, model::ListRequest{});
}
BENCHMARK(BM_ListOfOneWithoutHandOver);

void BM_DestroyThroughTheSet(benchmark::State& state) {
  const auto set =
      make_in_process_set(std::make_shared<DriverLibrary>("instant", instant_driver()));
  std::promise<void> opened;
  set->open({}, std::chrono::seconds(10), [&](const auto&) { opened.set_value(); });
  opened.get_future().wait();
  for (auto _ : state) {
    std::promise<void> destroyed;
    set->destroy({}, std::chrono::seconds(10), [&](const auto&) { destroyed.set_value(); });
    destroyed.get_future().wait();
  }
}
BENCHMARK(BM_DestroyThroughTheSet)->UseRealTime();

}  // namespace
}  // namespace hostler::plugin_host

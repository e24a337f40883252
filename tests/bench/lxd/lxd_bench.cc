// What the driver for LXD adds to the requests that it sends, to a server that answers at once.
// Beside each figure the same requests by a bare libcurl.
#include <benchmark/benchmark.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "lxd_set.h"
#include "tests/bench/cloud/bare_curl.h"
#include "tests/bench/lxd/quick_lxd.h"
#include "tests/unit/lxd/call.h"

namespace hostler::lxd::bench {
namespace {

using hostler::bench::BareCurl;
using test::Call;

constexpr int kInstances = 1000;
const std::string kName = "hostler-0f7c0a5e-1111-4222-8333-944455556666";

QuickLxd& server() {
  static QuickLxd the_server(kInstances);
  return the_server;
}

std::unique_ptr<LxdSet> open() {
  const std::string json = R"({"socket":")" + server().socket() + R"(","image":"debian"})";
  auto config = driver::sized<hostler_set_config>();
  config.set_id = HOSTLER_STR("s");
  config.config_json = driver::str(json);
  hostler_host host{};
  host.log = [](const hostler_host*, const hostler_log_line*) {};
  Call call;
  std::unique_ptr<LxdSet> set;
  if (call.run([&] { set = std::make_unique<LxdSet>(host, config, &call.op); }) != HOSTLER_OK)
    throw std::runtime_error(call.message());
  return set;
}

/// One connection is kept for questions, and each change has a new one.
void send(BareCurl& bare, const char* method, const std::string& path,
          const std::string& body = "") {
  bare.send({method, path, body, !body.empty()});
}

/// Five requests: a look, the create, the wait for it, the start, the wait for it.
void BM_Create(benchmark::State& state) {
  const auto set = open();
  const std::string script = "#!/bin/sh\n" + std::string(2000, '#');
  auto data = driver::sized<hostler_user_data>();
  data.format = HOSTLER_USER_DATA_SH;
  data.bytes = reinterpret_cast<const std::uint8_t*>(script.data());
  data.n_bytes = script.size();
  auto type = driver::sized<hostler_instance_type>();
  type.provider_type = HOSTLER_STR("small");
  auto request = driver::sized<hostler_create_req>();
  request.idempotency_key = HOSTLER_STR("0f7c0a5e-1111-4222-8333-944455556666");
  request.type = &type;
  request.user_data = &data;
  for (auto _ : state) {
    Call call;
    if (call.run([&] { set->create(request, &call.op); }) != HOSTLER_OK)
      return state.SkipWithError(call.message().c_str());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Create)->UseRealTime();

void BM_CreateByBareCurl(benchmark::State& state) {
  BareCurl bare("http://lxd", server().socket());
  const std::string instance = "/1.0/instances/" + kName,
                    wait = "/1.0/operations/7/wait?timeout=20";
  const std::string body(2800, ' '), start = R"({"action": "start", "force": true, "timeout": -1})";
  for (auto _ : state) {
    send(bare, "GET", instance + "?recursion=1");
    send(bare, "POST", "/1.0/instances", body);
    send(bare, "GET", wait);
    send(bare, "PUT", instance + "/state", start);
    send(bare, "GET", wait);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_CreateByBareCurl)->UseRealTime();

void BM_ListOf1000(benchmark::State& state) {
  const auto set = open();
  const auto request = driver::sized<hostler_list_req>();
  for (auto _ : state) {
    Call call;
    call.run([&] { set->list(request, &call.op); });
    if (call.instances.size() != kInstances) return state.SkipWithError("the list is not complete");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(server().list_bytes()));
}
BENCHMARK(BM_ListOf1000)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_ListOf1000ByBareCurl(benchmark::State& state) {
  BareCurl bare("http://lxd", server().socket());
  for (auto _ : state) {
    if (bare.send({"GET", "/1.0/instances?recursion=2"}).size() < 1'000'000)
      return state.SkipWithError("the answer is not whole");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(server().list_bytes()));
}
BENCHMARK(BM_ListOf1000ByBareCurl)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hostler::lxd::bench

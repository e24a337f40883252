// What the driver for LXD adds to the requests that it sends, to a server that answers at once.
// Beside each figure the same requests by a bare libcurl.
#include <benchmark/benchmark.h>
#include <curl/curl.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "lxd_set.h"
#include "tests/bench/lxd/quick_server.h"
#include "tests/unit/lxd/call.h"

namespace hostler::lxd::bench {
namespace {

using test::Call;

constexpr int kInstances = 1000;
const std::string kName = "hostler-0f7c0a5e-1111-4222-8333-944455556666";

QuickServer& server() {
  static QuickServer the_server(kInstances);
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

/// By libcurl alone, as the driver sends them: one connection is kept for questions, and each
/// change has a new one.
class Bare {
 public:
  Bare() { ::curl_global_init(CURL_GLOBAL_DEFAULT); }
  ~Bare() { ::curl_easy_cleanup(easy_); }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  void send(const char* method, const std::string& path, const std::string& body = "") {
    ::curl_easy_reset(easy_);
    answer_.clear();
    ::curl_easy_setopt(easy_, CURLOPT_URL, ("http://lxd" + path).c_str());
    ::curl_easy_setopt(easy_, CURLOPT_UNIX_SOCKET_PATH, server().socket().c_str());
    ::curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, method);
    if (!body.empty()) {
      ::curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, 1L);
      ::curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body.c_str());
    }
    ::curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &answer_);
    ::curl_easy_setopt(
        easy_, CURLOPT_WRITEFUNCTION, +[](char* data, std::size_t, std::size_t n, void* to) {
          static_cast<std::string*>(to)->append(data, n);
          return n;
        });
    if (::curl_easy_perform(easy_) != CURLE_OK) throw std::runtime_error("no answer");
  }
  [[nodiscard]] std::size_t bytes() const { return answer_.size(); }

 private:
  CURL* easy_ = ::curl_easy_init();
  std::string answer_;
};

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
  Bare bare;
  const std::string instance = "/1.0/instances/" + kName,
                    wait = "/1.0/operations/7/wait?timeout=20";
  const std::string body(2800, ' '), start = R"({"action": "start", "force": true, "timeout": -1})";
  for (auto _ : state) {
    bare.send("GET", instance + "?recursion=1");
    bare.send("POST", "/1.0/instances", body);
    bare.send("GET", wait);
    bare.send("PUT", instance + "/state", start);
    bare.send("GET", wait);
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
  Bare bare;
  for (auto _ : state) {
    bare.send("GET", "/1.0/instances?recursion=2");
    if (bare.bytes() < 1'000'000) return state.SkipWithError("the answer is not whole");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(server().list_bytes()));
}
BENCHMARK(BM_ListOf1000ByBareCurl)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hostler::lxd::bench

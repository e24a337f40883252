// What the driver for EC2 adds to the requests that it sends, to a server that answers at once.
// Beside each figure the same requests by a bare libcurl, which signs them.
#include <benchmark/benchmark.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "ec2_set.h"
#include "tests/bench/cloud/bare_curl.h"
#include "tests/bench/ec2/quick_ec2.h"
#include "tests/unit/driver_call/call.h"

namespace hostler::ec2::bench {
namespace {

using driver::test::Call;
using hostler::bench::BareCurl;

constexpr int kPages = 10, kCreates = 1000;
constexpr const char* kKeyId = "AKIAIOSFODNN7EXAMPLE";
constexpr const char* kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

QuickEc2& server() {
  static QuickEc2 the_server(kPages);
  return the_server;
}

std::unique_ptr<Ec2Set> open() {
  const std::string json = R"({"region":"us-east-1","image":"ami-00000000000000001","endpoint":")" +
                           server().endpoint() + R"(","sts_endpoint":")" + server().endpoint() +
                           "\"}";
  const std::string credentials = R"({"access_key_id":")" + std::string(kKeyId) +
                                  R"(","secret_access_key":")" + kSecret + "\"}";
  auto config = driver::sized<hostler_set_config>();
  config.set_id = HOSTLER_STR("s");
  config.config_json = driver::str(json);
  config.credentials_json = driver::str(credentials);
  hostler_host host{};
  host.log = [](const hostler_host*, const hostler_log_line*) {};
  Call call;
  std::unique_ptr<Ec2Set> set;
  if (call.run([&] { set = std::make_unique<Ec2Set>(host, config, &call.op); }) != HOSTLER_OK)
    throw std::runtime_error(call.message());
  return set;
}

/// A request as a create needs it: one key, and user data of 2,000 bytes.
struct CreateRequest {
  CreateRequest() {
    data.format = HOSTLER_USER_DATA_SH;
    data.bytes = reinterpret_cast<const std::uint8_t*>(script.data());
    data.n_bytes = script.size();
    type.provider_type = HOSTLER_STR("m6i.large");
    request.idempotency_key = HOSTLER_STR("00000000-0000-4000-8000-010000000000");
    request.type = &type;
    request.user_data = &data;
  }

  const std::string script = "#!/bin/sh\n" + std::string(2000, '#');
  hostler_user_data data = driver::sized<hostler_user_data>();
  hostler_instance_type type = driver::sized<hostler_instance_type>();
  hostler_create_req request = driver::sized<hostler_create_req>();
};

const std::string& post(BareCurl& bare, const std::string& body) {
  return bare.send({"POST", "/", body, false, "aws:amz:us-east-1:ec2", kKeyId, kSecret});
}

void BM_1000Creates(benchmark::State& state) {
  const auto set = open();
  const CreateRequest create;
  for (auto _ : state) {
    for (int i = 0; i < kCreates; ++i) {
      Call call;
      if (call.run([&] { return set->create(create.request, &call.op); }) != HOSTLER_OK)
        return state.SkipWithError(call.message().c_str());
    }
  }
  state.SetItemsProcessed(state.iterations() * kCreates);
}
BENCHMARK(BM_1000Creates)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

void BM_1000CreatesByBareCurl(benchmark::State& state) {
  BareCurl bare(server().endpoint(), "");
  const std::string body = "Action=RunInstances&Version=2016-11-15&" + std::string(4200, 'x');
  for (auto _ : state)
    for (int i = 0; i < kCreates; ++i)
      if (post(bare, body).size() < 1000) return state.SkipWithError("the answer is not whole");
  state.SetItemsProcessed(state.iterations() * kCreates);
}
BENCHMARK(BM_1000CreatesByBareCurl)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

void BM_ListOf10000(benchmark::State& state) {
  const auto set = open();
  const auto request = driver::sized<hostler_list_req>();
  for (auto _ : state) {
    Call call;
    call.run([&] { set->list(request, &call.op); });
    if (call.instances.size() != std::size_t{kPages} * QuickEc2::kPage)
      return state.SkipWithError(("the list is not complete: " + call.message()).c_str());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(server().list_bytes()));
}
BENCHMARK(BM_ListOf10000)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

void BM_ListOf10000ByBareCurl(benchmark::State& state) {
  BareCurl bare(server().endpoint(), "");
  const std::string body = "Action=DescribeInstances&Version=2016-11-15&MaxResults=1000";
  for (auto _ : state)
    for (int page = 0; page < kPages; ++page)
      if (post(bare, body + "&NextToken=" + std::to_string(page)).size() < 1'000'000)
        return state.SkipWithError("the answer is not whole");
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(server().list_bytes()));
}
BENCHMARK(BM_ListOf10000ByBareCurl)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hostler::ec2::bench

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "lxd_set.h"
#include "tests/unit/lxd/call.h"
#include "tests/unit/lxd/script.h"

namespace hostler::lxd::test {

inline const std::string kKey = "0f7c0a5e-1111-4222-8333-944455556666";
inline const std::string kName = "hostler-" + kKey;

inline std::string server(const std::string& auth = "trusted") {
  return R"({"auth":")" + auth + R"(","api_extensions":["instance_get_full","cloud_init"],)" +
         R"("environment":{"certificate_fingerprint":"ab12","server_clustered":false,)" +
         R"("kernel_architecture":"x86_64"}})";
}

/// An instance as LXD shows it; `more` are further members of its config.
inline std::string instance(int status, const std::string& name = kName,
                            const std::string& more = "", bool has_started = true) {
  return R"({"name":")" + name + R"(","type":"container","status_code":)" + std::to_string(status) +
         R"(,"status":"x","location":"none","created_at":)" +
         R"("2026-11-24T19:37:45.5Z","last_used_at":")" +
         (has_started ? "2026-11-24T19:37:48Z" : "1970-01-01T00:00:00Z") +
         R"(","config":{"user.hostler-key":")" + kKey + R"(","user.hostler-set":"s")" + more +
         R"(},"state":{"network":{"eth0":{"addresses":[{"family":"inet",)" +
         R"("address":"10.88.0.5","scope":"global"}]}}}})";
}

inline const std::string kConfig = R"({"socket":"/s","project":"p q","image":"debian"})";

class LxdSetTest : public ::testing::Test {
 protected:
  LxdSetTest() {
    type.provider_type = HOSTLER_STR("small");
    type.vcpus = 2;
    type.ram_bytes = 1 << 28;
    create_request.idempotency_key = driver::str(kKey);
    create_request.type = &type;
  }

  /// What becomes of an opening, with the answers that `play` has.
  hostler_status open(Call& call, const std::string& json = kConfig) {
    auto config = driver::sized<hostler_set_config>();
    config.set_id = HOSTLER_STR("s");
    config.config_json = driver::str(json);
    return call.run(
        [&] { set = std::make_unique<LxdSet>(config, std::make_unique<Script>(play), &call.op); });
  }

  void SetUp() override {
    play.sync(server()).sync("{}");
    Call call;
    ASSERT_EQ(open(call), HOSTLER_OK) << call.message();
    play.asked.clear();
    play.bodies.clear();
    play.timeouts_ms.clear();
  }

  hostler_status create(Call& call) {
    return call.run([&] { set->create(create_request, &call.op); });
  }
  /// What create() makes, with a disk or without, and never started.
  std::string without_disk(const std::string& more = "") {
    return instance(102, kName,
                    R"(,"user.hostler-driver.digest":")" +
                        read_spec(create_request, read_config(kConfig), "s", {}, true).digest +
                        "\"" + more,
                    false);
  }
  std::string made() { return without_disk(R"(,"volatile.apply_template":"create")"); }

  hostler_status list(Call& call) {
    const auto request = driver::sized<hostler_list_req>();
    return call.run([&] { set->list(request, &call.op); });
  }

  hostler_status destroy(Call& call, const char* expected_set = "s") {
    auto request = driver::sized<hostler_destroy_req>();
    request.id = driver::str(kName);
    request.expected_set_id = driver::str(expected_set);
    return call.run([&] { set->destroy(request, &call.op); });
  }

  hostler_instance_type type = driver::sized<hostler_instance_type>();
  hostler_create_req create_request = driver::sized<hostler_create_req>();
  Play play;
  std::unique_ptr<LxdSet> set;
};

}  // namespace hostler::lxd::test

#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "ec2_set.h"
#include "tests/unit/driver_call/call.h"
#include "tests/unit/ec2/script.h"

namespace hostler::ec2::test {

using driver::test::Call;

inline const std::string kKey = "0f7c0a5e-1111-4222-8333-944455556666";
inline const std::string kId = "i-0123456789abcdef0";
inline const std::string kConfig = R"({"region":"eu-central-1","image":"ami-1"})";

inline std::string tag(const std::string& key, const std::string& value) {
  return "<item><key>" + key + "</key><value>" + value + "</value></item>";
}

/// An instance as EC2 shows it; `more` are further elements, `tags` further tags.
inline std::string instance(const std::string& state, const std::string& id = kId,
                            const std::string& more = "", const std::string& tags = "") {
  return "<item><instanceId>" + id + "</instanceId><imageId>ami-1</imageId><instanceState><code>0" +
         "</code><name>" + state + "</name></instanceState><instanceType>m6i.large" +
         "</instanceType><launchTime>2026-11-25T03:00:00.000Z</launchTime><placement>" +
         "<availabilityZone>eu-central-1a</availabilityZone></placement><clientToken>" + kKey +
         "</clientToken><privateIpAddress>10.0.0.7</privateIpAddress><tagSet>" +
         tag("hostler-set", "s") + tag("hostler-key", kKey) + tags + "</tagSet>" + more + "</item>";
}

inline std::string reservations(const std::string& items, const std::string& next = "") {
  return "<requestId>r</requestId><reservationSet><item><reservationId>r-1</reservationId>" +
         ("<instancesSet>" + items) + "</instancesSet></item></reservationSet>" +
         (next.empty() ? "" : "<nextToken>" + next + "</nextToken>");
}

inline const std::string kNothing = "<reservationSet/>";

class Ec2SetTest : public ::testing::Test {
 protected:
  Ec2SetTest() {
    type.provider_type = HOSTLER_STR("m6i.large");
    create_request.idempotency_key = driver::str(kKey);
    create_request.type = &type;
  }

  hostler_status open(Call& call, const std::string& json = kConfig,
                      const std::string& credentials =
                          R"({"access_key_id":"AKIA1","secret_access_key":"secret"})") {
    auto config = driver::sized<hostler_set_config>();
    config.set_id = HOSTLER_STR("s");
    config.config_json = driver::str(json);
    config.credentials_json = driver::str(credentials);
    const auto way = std::make_shared<Script>(play);
    return call.run([&] {
      set = std::make_unique<Ec2Set>(config, Transports{way, way, way, 2}, &call.op);
    });
  }

  /// What EC2 answers to an opening.
  void let_open() {
    play.sts("GetCallerIdentity", "<Account>123456789012</Account>");
    play.ec2("DescribeInstances", kNothing);
  }

  void SetUp() override {
    let_open();
    Call call;
    ASSERT_EQ(open(call), HOSTLER_OK) << call.message();
    play.asked.clear();
  }

  hostler_status create(Call& call) {
    return call.run([&] { return set->create(create_request, &call.op); });
  }
  hostler_status list(Call& call) {
    const auto request = driver::sized<hostler_list_req>();
    return call.run([&] { set->list(request, &call.op); });
  }
  hostler_status destroy(Call& call, const char* expected_set = "s", const std::string& id = kId) {
    auto request = driver::sized<hostler_destroy_req>();
    request.id = driver::str(id);
    request.expected_set_id = driver::str(expected_set);
    return call.run([&] { set->destroy(request, &call.op); });
  }
  /// The digest of create_request.
  std::string digest() {
    return read_spec(create_request, read_config(kConfig), "s", {}, {}).digest;
  }

  hostler_instance_type type = driver::sized<hostler_instance_type>();
  hostler_create_req create_request = driver::sized<hostler_create_req>();
  Play play;
  std::unique_ptr<Ec2Set> set;
};

}  // namespace hostler::ec2::test

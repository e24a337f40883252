#include "config.h"

#include <gmock/gmock.h>

#include "query.h"
#include "tests/unit/driver_call/call.h"

namespace hostler::ec2::test {
namespace {

using driver::test::Call;
using ::testing::HasSubstr;

TEST(Ec2Config, NeedsARegionOnly) {
  const Config config = read_config(R"({"region":"eu-central-1"})");

  EXPECT_EQ(config.endpoint, "https://ec2.eu-central-1.amazonaws.com");
  EXPECT_EQ(config.sts_endpoint, "https://sts.eu-central-1.amazonaws.com");
  EXPECT_EQ(config.instance.volume_type, "gp3");
  EXPECT_EQ(config.interruption_interval_ms, 10'000);
}

TEST(Ec2Config, EndpointsAreThoseOfThePartition) {
  EXPECT_EQ(endpoint_of("ec2", "cn-north-1", false), "https://ec2.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(endpoint_of("ec2", "us-gov-west-1", true),
            "https://ec2-fips.us-gov-west-1.amazonaws.com");
  EXPECT_EQ(endpoint_of("sts", "us-iso-east-1", false), "https://sts.us-iso-east-1.c2s.ic.gov");
}

TEST(Ec2Config, AWrongFieldIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "region"},
      {R"({"region":"EU"})", "region"},
      {R"({"region":"a/b"})", "region"},
      {R"({"region":"r","endpoint":"http://ec2.example"})", "endpoint"},
      {R"({"region":"r","endpoint":"http://localhost.example.org"})", "endpoint"},
      {R"({"region":"r","endpoint":"http://127.example.org:80"})", "endpoint"},
      {R"({"region":"r","endpoint":"http://[::1].example.org"})", "endpoint"},
      {R"({"region":"r","endpoint":"https://h/path"})", "endpoint"},
      {R"({"region":"r","endpoint":"https://u@h"})", "endpoint"},
      {R"({"region":"r","fips":true,"endpoint":"https://h"})", "fips"},
      {R"({"region":"r","fips":"yes"})", "fips"},
      {R"({"region":"r","subnets":["x"]})", "subnets"},
      {R"({"region":"r","security_groups":["x"]})", "security_groups"},
      {R"({"region":"r","role_arn":"r"})", "role_arn"},
      {R"({"region":"r","role_external_id":"r"})", "role_external_id"},
      {R"({"region":"r","quota_groups":{"p5":"Big One"}})", "quota_groups.p5"},
      {R"({"region":"r","metadata_hop_limit":0})", "metadata_hop_limit"},
      {R"({"region":"r","interruption_interval":"1ms"})", "interruption_interval"},
      {R"({"region":"r","prices_file":"x"})", "prices_file"},
      {R"({"region":"r","remote_user":"u"})", "sets[].remote_user"},
      {R"({"region":"r","regoin":"x"})", "regoin"}};
  for (const auto& [json, field] : cases) {
    Call call;
    EXPECT_EQ(call.run([&, text = json] { read_config(text); }), HOSTLER_E_INVALID) << json;
    EXPECT_THAT(call.message(), HasSubstr(field));
  }
  for (const std::string url :
       {"http://127.0.0.1:5000", "http://127.0.0.1", "http://[::1]:2", "http://localhost"})
    EXPECT_EQ(read_config(R"({"region":"r","endpoint":")" + url + "\"}").endpoint, url);
}

TEST(Ec2Config, WrongCredentialsAreRefusedAndNotRepeated) {
  for (const char* json :
       {"[]", "x", R"({"access_key_id":"topsecret"})", R"({"session_token":"topsecret"})",
        R"({"secret":"topsecret"})", R"({"access_key_id":7})",
        R"({"access_key_id":"AKIA","secret_access_key":"topsecret\n"})",
        R"({"Version":2,"AccessKeyId":"AKIA","SecretAccessKey":"topsecret"})",
        R"({"Version":1,"AccessKeyId":"AKIA"})",
        R"({"Version":1,"AccessKeyId":"AKIA","SecretAccessKey":"topsecret","Expiration":"soon"})",
        R"({"AccessKeyId":"AKIA","SecretAccessKey":"topsecret","access_key_id":"AKIB"})"}) {
    Call call;
    EXPECT_EQ(call.run([&] { read_credentials(json); }), HOSTLER_E_INVALID) << json;
    EXPECT_THAT(call.message(), ::testing::Not(HasSubstr("topsecret")));
  }
  EXPECT_EQ(read_credentials("").access_key_id, "");
}

TEST(Ec2Config, CredentialsMayBeAsACredentialProcessPrintsThem) {
  const Credentials read = read_credentials(
      R"({"Version":1,"AccessKeyId":"ASIA","SecretAccessKey":"secret","SessionToken":"token",)"
      R"("Expiration":"2026-11-25T12:00:00Z","AccountId":"123456789012"})");
  EXPECT_EQ(read.access_key_id, "ASIA");
  EXPECT_EQ(read.secret_access_key, "secret");
  EXPECT_EQ(read.session_token, "token");
}

TEST(Ec2Query, IsAFormInTheOrderOfItsFields) {
  Query query("DescribeImages");
  query.add("Empty", "").add("A", "a b+c&=~*").add_pattern("name", {"x*?"});

  EXPECT_EQ(query.body("2016-11-15"),
            "Action=DescribeImages&Version=2016-11-15&A=a+b%2Bc%26%3D~%2A&Filter.1.Name=name&"
            "Filter.1.Value.1=x%2A%5C%3F");
}

}  // namespace
}  // namespace hostler::ec2::test

#include "keys.h"

#include "http/text.h"
#include "tests/unit/ec2/set_fixture.h"

namespace hostler::ec2::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::int64_t now_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

TEST(Ec2Keys, AreRenewedBeforeTheyEndAndTheOldOnesServeWhileThatFails) {
  Call call;
  int fetches = 0;
  bool fails = false;
  std::int64_t seconds = 200;  // less than the five minutes before the end
  RenewedKeys source([&](hostler_op*) {
    ++fetches;
    if (fails) throw driver::Error(HOSTLER_E_TRANSIENT, "no answer");
    return Keys{"k" + std::to_string(fetches), "s", "t", now_s() + seconds};
  });

  EXPECT_EQ(source.get(&call.op).access_key_id, "k1");
  fails = true;
  EXPECT_EQ(source.get(&call.op).access_key_id, "k1") << "they are valid yet";
  fails = false, seconds = 3600;
  EXPECT_EQ(source.get(&call.op).access_key_id, "k3");
  EXPECT_EQ(source.get(&call.op).access_key_id, "k3") << "and kept";
  EXPECT_EQ(fetches, 3);
}

TEST(Ec2Keys, ThatHaveEndedAreNotUsed) {
  Call call;
  bool fails = false;
  RenewedKeys source([&](hostler_op*) {
    if (fails) throw driver::Error(HOSTLER_E_TRANSIENT, "no answer");
    return Keys{"k", "s", "t", now_s() - 1};
  });
  source.get(&call.op);
  fails = true;

  EXPECT_EQ(call.run([&] { source.get(&call.op); }), HOSTLER_E_TRANSIENT);
}

TEST(Ec2Keys, OfAMachineComeFromItsMetadataWithAToken) {
  Play play;
  Script metadata(play);
  play.answer(200, "the-token")
      .answer(200, "role\nother")
      .answer(200, R"({"Code":"Success","AccessKeyId":"ASIA","SecretAccessKey":"s","Token":"t",)"
                   R"("Expiration":"2026-11-25T09:00:00Z"})");
  Call call;

  const Keys keys = keys_of_machine(metadata, &call.op);

  EXPECT_EQ(keys.access_key_id, "ASIA");
  EXPECT_EQ(keys.expires_unix_s, http::read_time_ns("2026-11-25T09:00:00Z") / 1'000'000'000);
  EXPECT_EQ(play.asked[0].method, "PUT");
  EXPECT_EQ(play.asked[2].path, "/latest/meta-data/iam/security-credentials/role");
  EXPECT_THAT(play.asked[2].headers, ElementsAre("X-aws-ec2-metadata-token: the-token"));
}

TEST(Ec2Keys, OfAMachineWithoutARoleAreAnErrorThatSaysWhatToDo) {
  for (const char* answer : {"", "{}", "[]", R"({"Code":"Failed"})", R"({"AccessKeyId":7})"}) {
    Play play;
    Script metadata(play);
    play.answer(200, "token").answer(200, "role").answer(200, answer);
    Call call;
    EXPECT_EQ(call.run([&] { keys_of_machine(metadata, &call.op); }), HOSTLER_E_AUTH) << answer;
  }
  Play none, silent;
  Script without_role(none), no_metadata(silent);
  none.answer(200, "token").answer(404, "");
  silent.no_answer(false);
  Call first, second;
  EXPECT_EQ(first.run([&] { keys_of_machine(without_role, &first.op); }), HOSTLER_E_AUTH);
  EXPECT_THAT(first.message(), HasSubstr("`credentials_file`"));
  EXPECT_EQ(second.run([&] { keys_of_machine(no_metadata, &second.op); }), HOSTLER_E_AUTH);
  EXPECT_THAT(second.message(), HasSubstr("`credentials_file`"));
}

class Ec2Role : public Ec2SetTest {
 protected:
  void let_assume(const std::string& id, std::int64_t until) {
    play.sts("AssumeRole", "<Credentials><AccessKeyId>" + id +
                               "</AccessKeyId><SecretAccessKey>rs</SecretAccessKey><SessionToken>" +
                               "rt</SessionToken><Expiration>" + time_text(until * 1'000'000'000) +
                               "</Expiration></Credentials>");
  }
  void SetUp() override {
    let_assume("ASIA1", now_s() + 3600);
    let_open();
    Call call;
    ASSERT_EQ(open(call, R"({"region":"eu-central-1","image":"ami-1",)"
                         R"("role_arn":"arn:aws:iam::1:role/r","role_external_id":"x"})"),
              HOSTLER_OK)
        << call.message();
  }
};

TEST_F(Ec2Role, IsAssumedWithTheKeysOfTheSetAndKept) {
  EXPECT_THAT(play.actions(), ElementsAre("AssumeRole", "GetCallerIdentity", "DescribeInstances"));
  EXPECT_EQ(play.asked[0].signature->access_key_id, "AKIA1");
  EXPECT_THAT(play.body(0), HasSubstr("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"));
  EXPECT_THAT(play.body(0), HasSubstr("ExternalId=x"));
  EXPECT_EQ(play.asked[1].signature->access_key_id, "ASIA1");
  EXPECT_EQ(play.asked[2].signature->session_token, "rt");
}

TEST_F(Ec2Role, IsAssumedAgainWhenItsKeysAreRefused) {
  play.refuse(403, "ExpiredToken");
  let_assume("ASIA2", now_s() + 3600);
  play.ec2("DescribeInstances", kNothing);
  Call call;

  EXPECT_EQ(list(call), HOSTLER_OK) << call.message();
  EXPECT_EQ(play.asked.back().signature->access_key_id, "ASIA2");
}

TEST_F(Ec2Role, IsNotAssumedAgainForWhatItMayNotDo) {
  play.refuse(403, "UnauthorizedOperation");
  Call call;

  EXPECT_EQ(list(call), HOSTLER_E_AUTH);
  EXPECT_EQ(call.error.scope, HOSTLER_SCOPE_OPERATION);
  EXPECT_EQ(play.asked.size(), 4u);
}

}  // namespace
}  // namespace hostler::ec2::test

#include "tests/unit/ec2/set_fixture.h"

namespace hostler::ec2::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(Ec2SetTest, ACreateIsOneRequestWithTheKeyAsItsToken) {
  play.ec2("RunInstances", "<instancesSet>" + instance("pending") + "</instancesSet>");
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();

  EXPECT_THAT(play.actions(), ElementsAre("RunInstances"));
  EXPECT_THAT(play.body(0), HasSubstr("&ClientToken=" + kKey + "&"));
  ASSERT_EQ(call.instances.size(), 1u);
  EXPECT_EQ(call.instances[0].id, kId);
  EXPECT_EQ(call.instances[0].key, kKey);
  EXPECT_EQ(call.instances[0].set_id, "s");
  EXPECT_EQ(call.instances[0].state, HOSTLER_STATE_PENDING);
}

TEST_F(Ec2SetTest, ARequestIsSignedForItsServiceAndRegion) {
  play.ec2("RunInstances", "<instancesSet>" + instance("pending") + "</instancesSet>");
  Call call;
  create(call);

  ASSERT_TRUE(play.asked[0].signature);
  EXPECT_EQ(play.asked[0].signature->service, "ec2");
  EXPECT_EQ(play.asked[0].signature->region, "eu-central-1");
  EXPECT_EQ(play.asked[0].signature->access_key_id, "AKIA1");
  EXPECT_THAT(play.asked[0].headers, ::testing::IsEmpty());
}

TEST_F(Ec2SetTest, ALostReplyOfACreateLeavesTheOutcomeOpenAndIsNotSentAgain) {
  play.no_answer(true);
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(call.outcome_unknown());
  EXPECT_THAT(play.actions(), ElementsAre("RunInstances"));
}

TEST_F(Ec2SetTest, ACreateThatNeverLeftHasAnOutcome) {
  play.no_answer(false);
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT);
  EXPECT_FALSE(call.outcome_unknown());
}

TEST_F(Ec2SetTest, AnAnswerToACreateThatCannotBeReadLeavesTheOutcomeOpen) {
  const std::string head =
      "<RunInstancesResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">";
  const std::string bodies[] = {"",
                                "<html>",
                                head,
                                head + "<instancesSet><item><instanceId>i-1",
                                head + "</RunInstancesResponse>",
                                head + "<instancesSet/></RunInstancesResponse>",
                                "<RunInstancesResponse xmlns=\"doc/2099-01-01\"/>",
                                "<DescribeInstancesResponse/>"};
  for (const std::string& body : bodies) {
    play.answer(200, body);
    Call call;
    EXPECT_EQ(create(call), HOSTLER_E_TRANSIENT) << body;
    EXPECT_TRUE(call.outcome_unknown()) << body;
    EXPECT_TRUE(call.instances.empty());
  }
}

TEST_F(Ec2SetTest, AFaultOfTheServerLeavesTheOutcomeOfACreateOpen) {
  Call fault, gateway;
  play.refuse(500, "InternalError").answer(502, "<html>bad gateway</html>");

  EXPECT_EQ(create(fault), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(fault.outcome_unknown());
  EXPECT_EQ(create(gateway), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(gateway.outcome_unknown());
}

TEST_F(Ec2SetTest, AShortageHasAnOutcomeAndNamesWhatTheSetHasChosen) {
  create_request.zone = HOSTLER_STR("eu-central-1b");
  play.refuse(500, "InsufficientInstanceCapacity");
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_CAPACITY);
  EXPECT_FALSE(call.outcome_unknown());
  EXPECT_EQ(call.error.scope, HOSTLER_SCOPE_TYPE | HOSTLER_SCOPE_ZONE);
  EXPECT_EQ(call.texts[HOSTLER_TEXT_SCOPE_ZONE], "eu-central-1b");
  EXPECT_EQ(call.texts[HOSTLER_TEXT_PROVIDER_CODE], "InsufficientInstanceCapacity");
  EXPECT_EQ(call.texts[HOSTLER_TEXT_REQUEST_ID], "r-1");
}

TEST_F(Ec2SetTest, AShortageWhereEc2ChoseAmongAllZonesIsOfTheType) {
  play.refuse(500, "InsufficientInstanceCapacity");
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_CAPACITY);
  EXPECT_EQ(call.error.scope, HOSTLER_SCOPE_TYPE);
}

TEST_F(Ec2SetTest, AFullSubnetIsNamed) {
  create_request.subnet = HOSTLER_STR("subnet-7");
  play.ec2("DescribeSubnets",
           "<subnetSet><item><availabilityZone>z1</availabilityZone></item></subnetSet>");
  play.refuse(400, "InsufficientFreeAddressesInSubnet");
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_CAPACITY);
  EXPECT_EQ(call.error.scope, HOSTLER_SCOPE_SUBNET);
  EXPECT_EQ(call.texts[HOSTLER_TEXT_SCOPE_SUBNET], "subnet-7");
}

TEST_F(Ec2SetTest, ASubnetOfAnotherZoneIsRefusedBeforeAnythingIsMade) {
  create_request.subnet = HOSTLER_STR("subnet-7");
  create_request.zone = HOSTLER_STR("z2");
  play.ec2("DescribeSubnets",
           "<subnetSet><item><availabilityZone>z1</availabilityZone></item></subnetSet>");
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_INVALID);
  EXPECT_THAT(call.message(), HasSubstr("subnet-7 is in the zone z1, not in z2"));
  EXPECT_THAT(play.actions(), ElementsAre("DescribeSubnets"));
}

// The config of the set has changed between a create and its retry.
TEST_F(Ec2SetTest, AKnownKeyWithOtherParametersIsTheInstanceOfTheFirstCreate) {
  play.refuse(400, "IdempotentParameterMismatch");
  play.ec2("DescribeInstances",
           reservations(instance("running", kId, "", tag("hostler-driver-request", digest()))));
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();

  ASSERT_EQ(call.instances.size(), 1u);
  EXPECT_EQ(call.instances[0].id, kId);
  EXPECT_EQ(call.instances[0].tags.count("hostler-driver-request"), 0u);
  EXPECT_THAT(play.body(1), HasSubstr("Filter.1.Name=client-token&Filter.1.Value.1=" + kKey));
}

TEST_F(Ec2SetTest, AKnownKeyOfAnotherRequestIsAConflict) {
  play.refuse(400, "IdempotentParameterMismatch");
  play.ec2("DescribeInstances",
           reservations(instance("running", kId, "", tag("hostler-driver-request", "other"))));
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_CONFLICT);
  EXPECT_TRUE(call.instances.empty());
}

TEST_F(Ec2SetTest, AKnownKeyWhoseInstanceIsNotShownLeavesTheOutcomeOpen) {
  Call hidden, lost;
  play.refuse(400, "IdempotentParameterMismatch").ec2("DescribeInstances", kNothing);
  EXPECT_EQ(create(hidden), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(hidden.outcome_unknown());

  play.refuse(400, "IdempotentParameterMismatch");
  for (int i = 0; i < 3; ++i) play.no_answer(false);
  EXPECT_EQ(create(lost), HOSTLER_E_TRANSIENT);
  EXPECT_TRUE(lost.outcome_unknown());
}

TEST_F(Ec2SetTest, AKeyWhoseInstanceHasGoneMakesNone) {
  Call shown, forgotten;
  play.refuse(400, "IdempotentInstanceTerminated");
  play.ec2("DescribeInstances",
           reservations(instance("terminated", kId, "", tag("hostler-driver-request", digest()))));
  EXPECT_EQ(create(shown), HOSTLER_OK);
  ASSERT_EQ(shown.instances.size(), 1u);
  EXPECT_EQ(shown.instances[0].state, HOSTLER_STATE_GONE);

  play.refuse(400, "IdempotentInstanceTerminated").ec2("DescribeInstances", kNothing);
  EXPECT_EQ(create(forgotten), HOSTLER_E_CONFLICT);
  EXPECT_FALSE(forgotten.outcome_unknown());
}

TEST_F(Ec2SetTest, TheKeyPairIsMadeOnceAndAgainWhenSomebodyHasDeletedIt) {
  const hostler_str key = HOSTLER_STR("ssh-ed25519 AAAAC3Nza me@site");
  create_request.ssh_public_keys = &key, create_request.n_ssh_public_keys = 1;
  const std::string made = "<instancesSet>" + instance("pending") + "</instancesSet>";
  play.refuse(400, "InvalidKeyPair.Duplicate").ec2("RunInstances", made);  // another set made it
  play.ec2("RunInstances", made);
  play.refuse(400, "InvalidKeyPair.NotFound").ec2("ImportKeyPair", "").ec2("RunInstances", made);
  Call first, second, third;

  EXPECT_EQ(create(first), HOSTLER_OK) << first.message();
  EXPECT_EQ(create(second), HOSTLER_OK) << second.message();
  EXPECT_EQ(create(third), HOSTLER_OK) << third.message();

  EXPECT_THAT(play.actions(), ElementsAre("ImportKeyPair", "RunInstances", "RunInstances",
                                          "RunInstances", "ImportKeyPair", "RunInstances"));
  EXPECT_THAT(play.body(1), HasSubstr("KeyName=hostler-"));
}

TEST_F(Ec2SetTest, ARootDiskIsThatOfTheImage) {
  auto disk = driver::sized<hostler_disk>();
  disk.role = HOSTLER_DISK_ROOT, disk.bytes = (std::uint64_t{30} << 30) + 1;
  const hostler_disk* disks[] = {&disk};
  create_request.disks = disks, create_request.n_disks = 1;
  play.ec2("DescribeImages",
           "<imagesSet><item><rootDeviceName>/dev/xvda</rootDeviceName></item></imagesSet>");
  play.ec2("RunInstances", "<instancesSet>" + instance("pending") + "</instancesSet>");
  Call call;

  EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
  EXPECT_THAT(play.body(1), HasSubstr("BlockDeviceMapping.1.DeviceName=%2Fdev%2Fxvda&"
                                      "BlockDeviceMapping.1.Ebs.VolumeSize=31&"
                                      "BlockDeviceMapping.1.Ebs.VolumeType=gp3&"
                                      "BlockDeviceMapping.1.Ebs.DeleteOnTermination=true"));
}

TEST_F(Ec2SetTest, AnImageThatIsNotThereIsNamed) {
  play.refuse(400, "InvalidAMIID.NotFound");
  Call call;

  EXPECT_EQ(create(call), HOSTLER_E_NOT_FOUND);
  EXPECT_EQ(call.error.scope, HOSTLER_SCOPE_IMAGE);
  EXPECT_EQ(call.texts[HOSTLER_TEXT_SCOPE_IMAGE], "ami-1");
}

// One hangs, and the others go on.
TEST_F(Ec2SetTest, ManyCreatesArePendingAtOnce) {
  constexpr int kMany = 40;
  std::mutex mutex;
  std::condition_variable all_are_there;
  int there = 0;
  play.afterwards = [&](const http::Request&) {
    std::unique_lock lock(mutex);
    ++there;
    all_are_there.notify_all();
    all_are_there.wait(lock, [&] { return there == kMany; });
    return http::Answer{200,
                        "<RunInstancesResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">"
                        "<instancesSet>" +
                            instance("pending") + "</instancesSet></RunInstancesResponse>",
                        0};
  };
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < kMany; ++i) calls.push_back(std::make_unique<Call>());
  for (const auto& call : calls) EXPECT_EQ(set->create(create_request, &call->op), HOSTLER_PENDING);

  for (const auto& call : calls)
    EXPECT_EQ(call->run([] { return HOSTLER_PENDING; }), HOSTLER_OK) << call->message();
}

}  // namespace
}  // namespace hostler::ec2::test

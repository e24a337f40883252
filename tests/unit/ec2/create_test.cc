#include "create.h"

#include "api.h"
#include "digest.h"
#include "tests/unit/ec2/set_fixture.h"

namespace hostler::ec2::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Ec2Create : public ::testing::Test {
 protected:
  Ec2Create() {
    type.provider_type = HOSTLER_STR("m6i.large");
    request.type = &type;
    request.idempotency_key = driver::str(kKey);
  }
  CreateSpec spec(const std::string& more = "", const Zones& zones = {}) {
    return read_spec(request,
                     read_config(R"({"region":"eu-central-1","image":"ami-1")" + more + "}"), "s",
                     {{"shared", "1"}}, zones);
  }
  std::string body(const std::string& more = "", const Zones& zones = {}) {
    return complete(spec(more, zones), "", "/dev/xvda").body("2016-11-15");
  }
  hostler_status status_of(Call& call, const std::string& more = "") {
    return call.run([&] { spec(more); });
  }

  hostler_instance_type type = driver::sized<hostler_instance_type>();
  hostler_create_req request = driver::sized<hostler_create_req>();
};

TEST_F(Ec2Create, TagsGoOnInstanceVolumesAndNetworkCards) {
  const hostler_kv tags[] = {{HOSTLER_STR("hostler-pool"), HOSTLER_STR("")}};
  request.tags = tags, request.n_tags = 1;
  request.name_hint = HOSTLER_STR("h-1");
  request.owner = HOSTLER_STR("site");
  const std::string text = body();

  for (const char* kind :
       {"1.ResourceType=instance&", "2.ResourceType=volume&", "3.ResourceType=network-interface&"})
    EXPECT_THAT(text, HasSubstr(std::string("TagSpecification.") + kind));
  EXPECT_THAT(text, HasSubstr("Key=hostler-pool&TagSpecification.1.Tag.5.Value=&"));
  for (const char* pair : {"Name", "hostler-key", "hostler-set", "hostler-owner", "shared"})
    EXPECT_THAT(text, HasSubstr(std::string("Key=") + pair));
  EXPECT_THAT(text, Not(HasSubstr("spot-instances-request")));
}

TEST_F(Ec2Create, MetadataNeedsATokenAndAShutdownEndsTheInstance) {
  EXPECT_THAT(body(), HasSubstr("MetadataOptions.HttpTokens=required"));
  EXPECT_THAT(body(), HasSubstr("MetadataOptions.HttpPutResponseHopLimit=1"));
  EXPECT_THAT(body(), HasSubstr("InstanceInitiatedShutdownBehavior=terminate"));
}

TEST_F(Ec2Create, SpotHasItsMarketAndItsCap) {
  request.market = type.market = HOSTLER_MARKET_SPOT;
  EXPECT_THAT(body(), Not(HasSubstr("MaxPrice")));
  request.price_cap_micros_per_hour = 1'012'300;

  EXPECT_THAT(body(), HasSubstr("InstanceMarketOptions.MarketType=spot"));
  EXPECT_THAT(body(), HasSubstr("SpotOptions.SpotInstanceType=one-time"));
  EXPECT_THAT(body(), HasSubstr("SpotOptions.MaxPrice=1.012300"));
  EXPECT_THAT(body(), HasSubstr("ResourceType=spot-instances-request"));
}

TEST_F(Ec2Create, UserDataIsHandedOnAsItIsUpTo16KiB) {
  auto data = driver::sized<hostler_user_data>();
  std::string bytes = "#!/bin/sh\n" + std::string(16 * 1024 - 10, 'x');
  data.format = HOSTLER_USER_DATA_SH;
  data.bytes = reinterpret_cast<const std::uint8_t*>(bytes.data()), data.n_bytes = bytes.size();
  request.user_data = &data;
  EXPECT_THAT(body(), HasSubstr("UserData=IyEvYmluL3NoCn"));

  bytes += 'x';
  data.bytes = reinterpret_cast<const std::uint8_t*>(bytes.data()), data.n_bytes = bytes.size();
  Call too_long, no_script;
  EXPECT_EQ(status_of(too_long), HOSTLER_E_INVALID);

  bytes = "\x1f\x8b";
  data.bytes = reinterpret_cast<const std::uint8_t*>(bytes.data()), data.n_bytes = bytes.size();
  EXPECT_EQ(status_of(no_script), HOSTLER_E_INVALID);
  data.flags = HOSTLER_USER_DATA_GZIP;
  EXPECT_THAT(body(), HasSubstr("UserData=H4s%3D"));

  bytes = "MIME-Version: 1.0\n";
  data.bytes = reinterpret_cast<const std::uint8_t*>(bytes.data()), data.n_bytes = bytes.size();
  data.format = HOSTLER_USER_DATA_MIME, data.flags = 0;
  EXPECT_THAT(body(), HasSubstr("UserData=TUlNRS"));
}

TEST_F(Ec2Create, OneSubnetIsNamedAndARetryNamesTheSame) {
  const std::string subnets = R"(,"subnets":["subnet-1","subnet-2","subnet-3"])";
  const Zones zones{{"subnet-1", "a"}, {"subnet-2", "b"}, {"subnet-3", "b"}};
  std::set<std::string> chosen;
  for (int i = 0; i < 100; ++i) {
    const std::string key = "key-" + std::to_string(i);
    request.idempotency_key = driver::str(key);
    const std::string one = spec(subnets, zones).subnet;
    EXPECT_EQ(spec(subnets, zones).subnet, one);
    chosen.insert(one);
  }
  EXPECT_EQ(chosen.size(), 3u);
  request.idempotency_key = driver::str(kKey);

  request.zone = HOSTLER_STR("a");
  EXPECT_EQ(spec(subnets, zones).subnet, "subnet-1");
  EXPECT_THAT(body(subnets, zones), HasSubstr("NetworkInterface.1.SubnetId=subnet-1"));
  EXPECT_THAT(body(subnets, zones), Not(HasSubstr("Placement.AvailabilityZone")));
  request.zone = HOSTLER_STR("c");
  Call call;
  EXPECT_EQ(call.run([&] { spec(subnets, zones); }), HOSTLER_E_INVALID);
  request.subnet = HOSTLER_STR("subnet-9");
  EXPECT_EQ(spec(subnets, zones).subnet, "subnet-9");
}

TEST_F(Ec2Create, NetworkPlacementAndProfileAreAsTheRequestSays) {
  const hostler_str groups[] = {HOSTLER_STR("sg-2")};
  EXPECT_THAT(body(R"(,"security_groups":["sg-1"])"), HasSubstr("&SecurityGroupId.1=sg-1"));
  request.security_groups = groups, request.n_security_groups = 1;
  request.public_ip = HOSTLER_PUBLIC_IP_NO;
  request.zone = HOSTLER_STR("z");
  request.tenancy = HOSTLER_TENANCY_DEDICATED;
  request.placement_group = HOSTLER_STR("pg");
  request.capacity_reservation = HOSTLER_STR("cr-1");
  request.identity_profile = HOSTLER_STR("arn:aws:iam::1:instance-profile/p");
  const std::string text = body(R"(,"security_groups":["sg-1"])");

  for (const char* part :
       {"NetworkInterface.1.SecurityGroupId.1=sg-2",
        "NetworkInterface.1.AssociatePublicIpAddress=false", "Placement.AvailabilityZone=z",
        "Placement.Tenancy=dedicated", "Placement.GroupName=pg",
        "CapacityReservationTarget.CapacityReservationId=cr-1", "IamInstanceProfile.Arn=arn"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST_F(Ec2Create, DisksAreVolumesThatGoWithTheInstance) {
  auto root = driver::sized<hostler_disk>(), scratch = driver::sized<hostler_disk>();
  root.role = HOSTLER_DISK_ROOT, root.bytes = std::uint64_t{20} << 30;
  scratch.role = HOSTLER_DISK_SCRATCH, scratch.bytes = 1;
  scratch.kind = HOSTLER_STR("io2"), scratch.iops = 5000;
  scratch.throughput_bytes_per_s = 250 * 1024 * 1024;
  const hostler_disk* disks[] = {&root, &scratch};
  request.disks = disks, request.n_disks = 2;
  const std::string text = body(R"(,"encrypted":true,"kms_key":"k1")");

  EXPECT_TRUE(spec().needs_root_device);
  for (const char* part :
       {"BlockDeviceMapping.1.DeviceName=%2Fdev%2Fxvda&BlockDeviceMapping.1.Ebs.VolumeSize=20",
        "BlockDeviceMapping.2.DeviceName=%2Fdev%2Fxvdt&BlockDeviceMapping.2.Ebs.VolumeSize=1",
        "2.Ebs.VolumeType=io2", "2.Ebs.Iops=5000", "2.Ebs.Throughput=250", "2.Ebs.Encrypted=true",
        "2.Ebs.KmsKeyId=k1", "2.Ebs.DeleteOnTermination=true"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST_F(Ec2Create, WhatCannotBeDoneIsRefusedByName) {
  const hostler_str two[] = {HOSTLER_STR("ssh-ed25519 A"), HOSTLER_STR("ssh-ed25519 B")};
  const hostler_kv reserved{HOSTLER_STR("aws:x"), HOSTLER_STR("y")};
  Call profiles, keys, region, tags, group, params, image;
  request.profiles = two, request.n_profiles = 1;
  EXPECT_EQ(status_of(profiles), HOSTLER_E_UNSUPPORTED);
  request.n_profiles = 0;
  request.ssh_public_keys = two, request.n_ssh_public_keys = 2;
  EXPECT_EQ(status_of(keys), HOSTLER_E_UNSUPPORTED);
  request.n_ssh_public_keys = 0;
  request.region = HOSTLER_STR("us-east-1");
  EXPECT_EQ(status_of(region), HOSTLER_E_INVALID);
  request.region = {};
  request.tags = &reserved, request.n_tags = 1;
  EXPECT_EQ(status_of(tags), HOSTLER_E_INVALID);
  request.n_tags = 0;
  const hostler_str name = HOSTLER_STR("a name");
  request.security_groups = &name, request.n_security_groups = 1;
  request.subnet = HOSTLER_STR("subnet-1");
  EXPECT_EQ(status_of(group), HOSTLER_E_INVALID);
  request.n_security_groups = 0;
  type.provider_params_json = HOSTLER_STR(R"({"volumetype": "gp2"})");
  EXPECT_EQ(status_of(params), HOSTLER_E_INVALID);
  EXPECT_THAT(params.message(), HasSubstr("volumetype"));
  EXPECT_EQ(image.run([&] { read_spec(request, read_config(R"({"region":"r"})"), "s", {}, {}); }),
            HOSTLER_E_INVALID);
}

TEST_F(Ec2Create, TheDigestIsOfTheRequestAlone) {
  const std::string before = spec().digest;
  EXPECT_EQ(spec(R"(,"security_groups":["sg-1"],"metadata_hop_limit":2)").digest, before);
  request.public_ip = HOSTLER_PUBLIC_IP_YES;
  EXPECT_NE(spec().digest, before);
}

// The image brings its user.
TEST_F(Ec2Create, AnyUserMayBeTheOneWhoLogsIn) {
  request.remote_user = HOSTLER_STR("admin");
  Call call;
  EXPECT_EQ(status_of(call), HOSTLER_OK) << call.message();
}

TEST(Ec2Base64, IsReadAsItWasWritten) {
  for (std::size_t n = 0; n < 10; ++n) {
    const std::string bytes(n, '\xff');
    EXPECT_EQ(from_base64(in_base64(bytes)), bytes);
  }
  for (const char* wrong : {"a", "ab", "abc", "a===", "====", "ab$="}) {
    Call call;
    EXPECT_EQ(call.run([&] { from_base64(wrong); }), HOSTLER_E_TRANSIENT) << wrong;
  }
}

}  // namespace
}  // namespace hostler::ec2::test

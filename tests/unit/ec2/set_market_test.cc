#include <fstream>

#include "http/text.h"
#include "notices.h"
#include "offerings.h"
#include "quota_group.h"
#include "tests/unit/ec2/set_fixture.h"

namespace hostler::ec2::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(Ec2SetTest, OfferingsAreTypesInZonesAndMarkets) {
  play.ec2("DescribeInstanceTypes",
           "<instanceTypeSet><item><instanceType>g5.xlarge</instanceType>"
           "<supportedUsageClasses><item>on-demand</item><item>spot</item></supportedUsageClasses>"
           "<processorInfo><supportedArchitectures><item>x86_64</item></supportedArchitectures>"
           "</processorInfo><vCpuInfo><defaultVCpus>4</defaultVCpus></vCpuInfo>"
           "<memoryInfo><sizeInMiB>16384</sizeInMiB></memoryInfo>"
           "<instanceStorageInfo><totalSizeInGB>250</totalSizeInGB></instanceStorageInfo>"
           "<gpuInfo><gpus><item><name>A10G</name><manufacturer>NVIDIA</manufacturer>"
           "<count>1</count><memoryInfo><sizeInMiB>24576</sizeInMiB></memoryInfo></item></gpus>"
           "<totalGpuMemoryInMiB>24576</totalGpuMemoryInMiB></gpuInfo></item>"
           "<item><instanceType>mac1.metal</instanceType><processorInfo><supportedArchitectures>"
           "<item>x86_64_mac</item></supportedArchitectures></processorInfo></item>"
           "</instanceTypeSet>");
  play.ec2("DescribeInstanceTypeOfferings",
           "<instanceTypeOfferingSet>"
           "<item><instanceType>g5.xlarge</instanceType><location>z1</location></item>"
           "<item><instanceType>g5.xlarge</instanceType><location>z2</location></item>"
           "</instanceTypeOfferingSet>");
  play.ec2("DescribeSpotPriceHistory",
           "<spotPriceHistorySet><item><instanceType>g5.xlarge</instanceType>"
           "<spotPrice>0.412300</spotPrice><timestamp>2026-01-01T00:00:00.000Z</timestamp>"
           "<availabilityZone>z2</availabilityZone></item></spotPriceHistorySet>");
  const auto request = driver::sized<hostler_offerings_req>();
  Call call;

  EXPECT_EQ(call.run([&] { set->offerings(request, &call.op); }), HOSTLER_OK) << call.message();

  ASSERT_EQ(call.offerings.size(), 4u);  // two zones, two markets; none of a Mac
  const auto& one = call.offerings[3];
  EXPECT_EQ(one.type, "g5.xlarge");
  EXPECT_EQ(one.zone, "z2");
  EXPECT_EQ(one.market, HOSTLER_MARKET_SPOT);
  EXPECT_EQ(one.price, 412'300);
  EXPECT_EQ(one.vcpus, 4u);
  EXPECT_EQ(one.gpus, 1u);
  EXPECT_THAT(one.gpu_groups, ElementsAre("1 a10g of 24576 MiB"));
  EXPECT_EQ(one.ram, std::uint64_t{16} << 30);
  EXPECT_EQ(one.scratch, 250'000'000'000u);
  EXPECT_EQ(call.offerings[0].price, -1) << "no file has it";
}

/// One type with these devices, and what else EC2 says of it.
InstanceType type_with(const std::string& gpus, const std::string& more = "") {
  pugi::xml_document document;
  const std::string text = "<item><instanceType>t</instanceType>" +
                           (gpus.empty() ? gpus : "<gpuInfo><gpus>" + gpus + "</gpus></gpuInfo>") +
                           more + "</item>";
  EXPECT_TRUE(document.load_string(text.c_str()));
  return read_instance_type(document.child("item"));
}
std::string gpu(const std::string& name, const std::string& count, const std::string& mib) {
  return "<item><name>" + name + "</name><count>" + count + "</count><memoryInfo><sizeInMiB>" +
         mib + "</sizeInMiB></memoryInfo></item>";
}

TEST(InstanceTypeTest, KindsOfGpusAreTheirNamesWithoutTheMaker) {
  for (const auto& [name, kind] :
       std::map<std::string, std::string>{{"A10G", "a10g"},
                                          {"NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb"},
                                          {"Tesla T4", "t4"},
                                          {"AMD Instinct MI210", "mi210"},
                                          {"Gaudi HL-205", "gaudi-hl-205"},
                                          {"NVIDIA", ""},
                                          {"\xff\xfe, ", ""},
                                          {std::string(1000, 'x'), std::string(63, 'x')}})
    EXPECT_EQ(driver::gpu_kind(name), kind) << name;
}

TEST(InstanceTypeTest, EqualGpusAreOneGroup) {
  const auto type = type_with(gpu("A100", "4", "40960") + gpu("A100", "4", "40960") +
                              gpu("Radeon Pro V520", "1", "8192"));
  EXPECT_EQ(type.gpus, 9U);
  ASSERT_EQ(type.gpu_groups.size(), 2U);
  EXPECT_EQ(type.gpu_groups[0].kind, "a100");
  EXPECT_EQ(type.gpu_groups[0].memory_bytes, std::uint64_t{40} << 30);
  EXPECT_EQ(type.gpu_groups[0].count, 8U);
  EXPECT_EQ(type.gpu_groups[1].kind, "radeon-pro-v520");
}

TEST(InstanceTypeTest, ChipsForInferenceAndTrainingAreNoGpus) {
  const auto type = type_with(
      "",
      "<neuronInfo><neuronDevices><item><count>16</count><name>Trainium</name></item>"
      "</neuronDevices></neuronInfo><inferenceAcceleratorInfo><accelerators><item><count>4"
      "</count><name>Inferentia</name></item></accelerators></inferenceAcceleratorInfo>");
  EXPECT_EQ(type.gpus, 0U);
  EXPECT_TRUE(type.gpu_groups.empty());
}

TEST(InstanceTypeTest, NumbersThatNoGpuHasAreNotKnown) {
  const auto type = type_with(gpu("T4", "99999999999", "16384") + gpu("\xe2\x98\x83", "1", "-1"));
  EXPECT_EQ(type.gpus, 1U);
  ASSERT_EQ(type.gpu_groups.size(), 1U);
  EXPECT_EQ(type.gpu_groups[0].kind, "");
  EXPECT_EQ(type.gpu_groups[0].memory_bytes, 0U);
}

TEST_F(Ec2SetTest, SpotPricesAreKeptForAWhile) {
  play.ec2(
      "DescribeSpotPriceHistory",
      "<spotPriceHistorySet>"
      "<item><instanceType>m6i.large</instanceType><spotPrice>0.03</spotPrice>"
      "<timestamp>2026-11-25T02:00:00Z</timestamp><availabilityZone>z1</availabilityZone></item>"
      "<item><instanceType>m6i.large</instanceType><spotPrice>0.02</spotPrice>"
      "<timestamp>2026-11-25T01:00:00Z</timestamp><availabilityZone>z1</availabilityZone></item>"
      "<item><instanceType>m6i.large</instanceType><spotPrice>0.01</spotPrice>"
      "<timestamp>2026-11-24T00:00:00Z</timestamp><availabilityZone>z1</availabilityZone></item>"
      "</spotPriceHistorySet>");
  auto request = driver::sized<hostler_price_req>();
  request.type = &type;
  request.since_unix_ns = http::read_time_ns("2026-11-25T01:30:00Z");
  Call first, second;

  EXPECT_EQ(first.run([&] { set->price_history(request, &first.op); }), HOSTLER_OK);
  EXPECT_EQ(second.run([&] { set->price_history(request, &second.op); }), HOSTLER_OK);

  EXPECT_EQ(play.asked.size(), 1u);
  EXPECT_THAT(play.body(0), HasSubstr("StartTime=2026-11-25T01%3A30%3A00Z"));
  ASSERT_EQ(second.prices.size(), 2u) << "the change, and what was in force before";
  EXPECT_EQ(second.prices[0].price, 30'000);
  EXPECT_EQ(second.prices[1].price, 20'000);
}

TEST_F(Ec2SetTest, APriceThatIsNoneIsAnError) {
  for (const char* price : {"", "-1", "1e99", "nan", "0.1x"}) {
    for (int i = 0; i < 3; ++i)
      play.ec2(
          "DescribeSpotPriceHistory",
          "<spotPriceHistorySet><item><instanceType>m6i.large</instanceType><spotPrice>" +
              std::string(price) +
              "</spotPrice><availabilityZone>z</availabilityZone></item></spotPriceHistorySet>");
    auto request = driver::sized<hostler_price_req>();
    request.type = &type;
    Call call;
    EXPECT_EQ(call.run([&] { set->price_history(request, &call.op); }), HOSTLER_E_TRANSIENT);
    EXPECT_TRUE(call.prices.empty());
    play.steps.clear();
  }
}

class PricesFile : public ::testing::Test {
 protected:
  std::map<std::string, std::int64_t> read(const std::string& bytes) {
    std::ofstream(path) << bytes;
    return read_prices(path);
  }
  const std::string path =
      ::testing::TempDir() + "hostler-ec2-prices-" + std::to_string(::getpid()) + ".json";
  ~PricesFile() override { std::remove(path.c_str()); }
};

TEST_F(PricesFile, HasMoneyForEachType) {
  const auto prices = read(R"({"prices": {"m6i.large": 0.115, "t3.nano": 0}})");
  EXPECT_EQ(prices.at("m6i.large"), 115'000);
  EXPECT_EQ(prices.at("t3.nano"), 0);
}

TEST_F(PricesFile, AWrongOneIsRefusedByName) {
  for (const char* bytes : {"", "[]", "{}", R"({"prices": []})", R"({"prices": {"a": -1}})",
                            R"({"prices": {"a": "1"}})"}) {
    Call call;
    EXPECT_EQ(call.run([&] { read(bytes); }), HOSTLER_E_INVALID) << bytes;
    EXPECT_THAT(call.message(), HasSubstr(path));
  }
  Call missing;
  EXPECT_EQ(missing.run([&] { read_prices("/nonexistent/prices"); }), HOSTLER_E_INVALID);
  EXPECT_THAT(missing.message(), HasSubstr("`readable`"));
}

TEST(Ec2QuotaGroup, IsTheFamilyAndTheMarket) {
  const std::map<std::string, std::string> none, own{{"p5", "big"}, {"m", "mine"}};
  EXPECT_EQ(quota_group_of("m6i.large", HOSTLER_MARKET_ON_DEMAND, none), "standard");
  EXPECT_EQ(quota_group_of("t3.micro", HOSTLER_MARKET_SPOT, none), "standard-spot");
  EXPECT_EQ(quota_group_of("vt1.3xlarge", HOSTLER_MARKET_ON_DEMAND, none), "g");
  EXPECT_EQ(quota_group_of("inf2.xlarge", HOSTLER_MARKET_ON_DEMAND, none), "inf");
  EXPECT_EQ(quota_group_of("p5.48xlarge", HOSTLER_MARKET_SPOT, own), "big-spot");
  EXPECT_EQ(quota_group_of("p4d.24xlarge", HOSTLER_MARKET_ON_DEMAND, own), "p");
  EXPECT_EQ(quota_group_of("mac1.metal", HOSTLER_MARKET_ON_DEMAND, own), "mac");
  EXPECT_EQ(quota_group_of("m6i.large", HOSTLER_MARKET_ON_DEMAND, own), "mine");
  EXPECT_EQ(quota_group_of("", HOSTLER_MARKET_ON_DEMAND, none), "");
  EXPECT_EQ(quota_group_of("6x", HOSTLER_MARKET_ON_DEMAND, none), "");
}

TEST_F(Ec2SetTest, ImagesOfStrangersAreNotFoundByTheirName) {
  play.ec2("DescribeImages",
           "<imagesSet><item><imageId>ami-1</imageId><name>debian-12-arm64</name>"
           "<imageOwnerId>123456789012</imageOwnerId><architecture>arm64</architecture>"
           "<creationDate>2026-01-01T00:00:00.000Z</creationDate></item>"
           "<item><imageId>ami-2</imageId><architecture>i386</architecture></item></imagesSet>");
  auto request = driver::sized<hostler_images_req>();
  request.name = HOSTLER_STR("debian-12-*?");
  request.architecture = HOSTLER_STR("aarch64");
  Call call;

  EXPECT_EQ(call.run([&] { set->find_images(request, &call.op); }), HOSTLER_OK) << call.message();

  ASSERT_EQ(call.images.size(), 1u);
  EXPECT_EQ(call.images[0].architecture, "aarch64");
  EXPECT_THAT(play.body(0), HasSubstr("Owner.1=self&Owner.2=amazon"));
  EXPECT_THAT(play.body(0), HasSubstr("Value.1=debian-12-%2A%5C%3F"));
  EXPECT_THAT(play.body(0), HasSubstr("Value.1=arm64"));
}

const std::string kNoKeyPairs = "<keySet/>";

TEST_F(Ec2SetTest, LeftoversAreWhatNothingHas) {
  play.ec2("DescribeKeyPairs", kNoKeyPairs);
  play.ec2("DescribeVolumes", "<volumeSet><item><volumeId>vol-1</volumeId><tagSet>" +
                                  tag("hostler-set", "s") + "</tagSet></item></volumeSet>");
  play.ec2("DescribeNetworkInterfaces",
           "<networkInterfaceSet><item><networkInterfaceId>eni-1</networkInterfaceId></item>"
           "</networkInterfaceSet>");
  const auto request = driver::sized<hostler_leftover_list_req>();
  Call call;

  EXPECT_EQ(call.run([&] { set->list_leftovers(request, &call.op); }), HOSTLER_OK)
      << call.message();
  ASSERT_EQ(call.leftovers.size(), 2u);
  EXPECT_EQ(call.leftovers[0].id, "vol-1");
  EXPECT_EQ(call.leftovers[1].type, "network-interface");
  EXPECT_THAT(play.body(1), HasSubstr("Name=status&Filter.1.Value.1=available"));
}

TEST_F(Ec2SetTest, KeyPairsAreLeftOnceTheSetUsesAnotherKey) {
  std::string known;
  const auto name_in = [&](std::size_t n) {
    const std::string body = play.body(n);
    const std::size_t at = body.find("hostler-s-");
    return body.substr(at, std::string("hostler-s-").size() + 32);
  };
  const auto list = [&](Call& call) {
    play.ec2("DescribeKeyPairs", "<keySet>" + known + "</keySet>");
    play.ec2("DescribeVolumes", "<volumeSet/>");
    play.ec2("DescribeNetworkInterfaces", "<networkInterfaceSet/>");
    auto request = driver::sized<hostler_leftover_list_req>();
    const hostler_kv of_set{HOSTLER_STR("hostler-set"), HOSTLER_STR("s")};
    request.tag_filter = &of_set, request.n_tag_filter = 1;
    EXPECT_EQ(call.run([&] { set->list_leftovers(request, &call.op); }), HOSTLER_OK)
        << call.message();
    std::vector<std::string> out;
    for (const auto& one : call.leftovers) out.push_back(one.id);
    return out;
  };
  const auto create_with = [&](const char* key) {
    play.asked.clear();
    const hostler_str keys[] = {driver::str(key)};
    create_request.ssh_public_keys = keys, create_request.n_ssh_public_keys = 1;
    play.ec2("ImportKeyPair", "")
        .ec2("RunInstances", "<instancesSet>" + instance("pending") + "</instancesSet>");
    Call call;
    EXPECT_EQ(create(call), HOSTLER_OK) << call.message();
    EXPECT_THAT(play.body(0), HasSubstr("TagSpecification.1.ResourceType=key-pair"));
    EXPECT_THAT(play.body(0), HasSubstr("Key=hostler-set&TagSpecification.1.Tag.1.Value=s"));
    const std::string name = name_in(0);
    known += "<item><keyName>" + name + "</keyName><tagSet>" + tag("hostler-set", "s") +
             "</tagSet></item>";
    return name;
  };
  const std::string old = "hostler-0123456789abcdef0123456789abcdef";
  known = "<item><keyName>" + old + "</keyName></item><item><keyName>hostler-mine</keyName></item>";

  const std::string first = create_with("ssh-ed25519 AAAA1");
  Call in_use, left;
  EXPECT_THAT(list(in_use), ElementsAre(old)) << "which has no tags; nobody knows whose it is";
  create_with("ssh-ed25519 AAAA2");
  EXPECT_THAT(list(left), ElementsAre(old, first));

  auto request = driver::sized<hostler_leftover_destroy_req>();
  request.type = HOSTLER_STR("key-pair");
  request.id = driver::str(first);
  Call destroy;
  EXPECT_EQ(destroy.run([&] { set->destroy_leftover(request, &destroy.op); }),
            HOSTLER_E_UNSUPPORTED);
}

TEST_F(Ec2SetTest, ASetThatHasCreatedNothingCallsNoKeyPairOfItsOwnLeft) {
  play.ec2("DescribeKeyPairs",
           "<keySet><item><keyName>hostler-s-0123456789abcdef0123456789abcdef"
           "</keyName><tagSet>" +
               tag("hostler-set", "s") + "</tagSet></item></keySet>");
  play.ec2("DescribeVolumes", "<volumeSet/>");
  play.ec2("DescribeNetworkInterfaces", "<networkInterfaceSet/>");
  const auto request = driver::sized<hostler_leftover_list_req>();
  Call call;
  EXPECT_EQ(call.run([&] { set->list_leftovers(request, &call.op); }), HOSTLER_OK);
  EXPECT_EQ(call.leftovers.size(), 0u);
}

TEST_F(Ec2SetTest, ALeftoverIsDeletedOnlyIfItIsOfTheSetAndUnattached) {
  auto request = driver::sized<hostler_leftover_destroy_req>();
  request.type = HOSTLER_STR("volume");
  request.id = HOSTLER_STR("vol-1");
  request.expected_set_id = HOSTLER_STR("s");
  const auto run = [&](Call& call) {
    return call.run([&] { set->destroy_leftover(request, &call.op); });
  };
  const auto volume = [](const std::string& of) {
    return "<volumeSet><item><volumeId>vol-1</volumeId><tagSet>" + tag("hostler-set", of) +
           "</tagSet></item></volumeSet>";
  };
  Call foreign, ours, absent;
  play.ec2("DescribeVolumes", volume("other"));
  EXPECT_EQ(run(foreign), HOSTLER_E_CONFLICT);
  play.ec2("DescribeVolumes", volume("s")).ec2("DeleteVolume", "<return>true</return>");
  EXPECT_EQ(run(ours), HOSTLER_OK) << ours.message();
  play.ec2("DescribeVolumes", "<volumeSet/>");
  EXPECT_EQ(run(absent), HOSTLER_OK) << absent.message();
  EXPECT_EQ(play.actions().back(), "DescribeVolumes");
}

std::string request_of(const std::string& code) {
  return "<spotInstanceRequestSet><item><instanceId>i-1</instanceId><status><code>" + code +
         "</code><updateTime>2026-11-25T03:00:00.000Z</updateTime><message>soon</message></status>"
         "</item></spotInstanceRequestSet>";
}

TEST_F(Ec2SetTest, AnInterruptionIsToldOnceAndTakenBackWhenEc2DoesNotSayItAnyMore) {
  let_open();
  Call opening;
  ASSERT_EQ(open(opening, R"({"region":"r","interruption_interval":"100ms"})"), HOSTLER_OK);
  const std::string nothing = "<instanceStatusSet/>";
  play.ec2("DescribeSpotInstanceRequests", request_of("marked-for-termination"));
  play.ec2("DescribeInstanceStatus", nothing);
  play.ec2("DescribeSpotInstanceRequests", request_of("marked-for-termination"));  // told already
  play.refuse(503, "RequestLimitExceeded").no_answer(false).no_answer(false);      // no look
  play.ec2("DescribeSpotInstanceRequests", "<spotInstanceRequestSet/>");
  play.ec2("DescribeInstances", reservations(instance("running", "i-1")));
  play.ec2("DescribeSpotInstanceRequests", request_of("fulfilled"));
  Call call;
  call.on_notice = [&] {
    if (call.notices.size() == 2) std::thread([&] { call.cancel(); }).detach();
  };
  const auto request = driver::sized<hostler_interruption_req>();

  EXPECT_EQ(call.run([&] { return set->watch(request, &call.op); }), HOSTLER_OK) << call.message();

  ASSERT_EQ(call.notices.size(), 2u);
  EXPECT_EQ(call.notices[0].id, "i-1");
  EXPECT_EQ(call.notices[0].action, HOSTLER_INTERRUPTION_TERMINATE);
  EXPECT_EQ(call.notices[0].at, http::read_time_ns("2026-11-25T03:02:00Z"));
  EXPECT_EQ(call.notices[1].action, HOSTLER_INTERRUPTION_WITHDRAWN);
}

TEST_F(Ec2SetTest, AnAccountThatMayNotLookForInterruptionsSaysSo) {
  play.refuse(403, "UnauthorizedOperation");
  Call call;
  const auto request = driver::sized<hostler_interruption_req>();

  EXPECT_EQ(call.run([&] { return set->watch(request, &call.op); }), HOSTLER_E_AUTH);
  EXPECT_EQ(call.error.scope, HOSTLER_SCOPE_OPERATION);
}

TEST_F(Ec2SetTest, AScheduledEventThatIsOverIsNoNotice) {
  const auto event = [](const std::string& id, const std::string& code, const std::string& words) {
    return "<item><instanceId>" + id + "</instanceId><eventsSet><item><code>" + code +
           "</code><description>" + words +
           "</description><notBefore>2026-12-01T00:00:00Z</notBefore></item></eventsSet></item>";
  };
  play.ec2("DescribeInstanceStatus",
           "<instanceStatusSet>" + event("i-1", "instance-retirement", "degraded hardware") +
               event("i-2", "system-reboot", "[Completed] reboot") +
               event("i-3", "system-maintenance", "power") + "</instanceStatusSet>");
  const Api api(std::make_shared<Script>(play), {"ec2", "2016-11-15", "r"},
                std::make_shared<FixedKeys>(Keys{"a", "b", "", 0}));

  const Notices notices = scheduled_notices(api, nullptr);

  ASSERT_EQ(notices.size(), 2u);
  EXPECT_EQ(notices.at("i-1").action, HOSTLER_INTERRUPTION_TERMINATE);
  EXPECT_EQ(notices.at("i-3").action, HOSTLER_INTERRUPTION_RESTART);
}

}  // namespace
}  // namespace hostler::ec2::test

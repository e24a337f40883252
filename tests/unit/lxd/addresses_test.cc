#include "addresses.h"

#include <gtest/gtest.h>

namespace hostler::lxd {
namespace {

std::vector<Address> addresses(const std::string& network) {
  rapidjson::Document document;
  document.Parse(
      (R"({"config": {"volatile.eth0.hwaddr": "aa"}, "state": {"network": )" + network + "}}")
          .c_str());
  return read_addresses(document);
}

TEST(LxdAddressesTest, CardsOfLxdComeBeforeBridgesThatWereMadeInside) {
  const auto found = addresses(R"({
    "docker0": {"hwaddr": "dd", "addresses": [
      {"family": "inet", "address": "172.17.0.1", "scope": "global"}]},
    "eth0": {"hwaddr": "aa", "addresses": [
      {"family": "inet6", "address": "2001:db8::7", "scope": "global"},
      {"family": "inet6", "address": "fe80::1", "scope": "link"},
      {"family": "inet", "address": "192.0.2.7", "scope": "global"}]},
    "lo": {"hwaddr": "", "addresses": [
      {"family": "inet", "address": "127.0.0.1", "scope": "local"}]}})");

  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].text, "192.0.2.7");
  EXPECT_EQ(found[0].scope, HOSTLER_ADDRESS_PUBLIC);
  EXPECT_EQ(found[1].text, "2001:db8::7");
  EXPECT_EQ(found[2].text, "172.17.0.1");
  EXPECT_EQ(found[2].scope, HOSTLER_ADDRESS_PRIVATE);
}

TEST(LxdAddressesTest, AStoppedContainerHasNone) {
  EXPECT_TRUE(addresses("null").empty());
  EXPECT_TRUE(addresses(R"({"eth0": {"addresses": null}, "eth1": 7})").empty());
}

TEST(LxdAddressesTest, TimesAreReadToTheNanosecond) {
  EXPECT_EQ(read_time_ns("2026-01-02T03:04:05.000000007Z"), 1'767'323'045'000'000'007);
  EXPECT_EQ(read_time_ns("0001-01-01T00:00:00Z"), 0);
  EXPECT_EQ(read_time_ns("yesterday"), 0);
}

// LXD writes them in the zone of its machine.
TEST(LxdAddressesTest, TimesAreReadInAnyTimeZone) {
  EXPECT_EQ(read_time_ns("2020-03-30T10:30:53.39-04:00"), 1'585'578'653'390'000'000);
  EXPECT_EQ(read_time_ns("2020-03-30T20:00:53+05:30"), 1'585'578'653'000'000'000);
  EXPECT_EQ(read_time_ns("1970-01-01T01:00:00+01:00"), 0);
  EXPECT_EQ(read_time_ns("2020-03-30T10:30:53"), 0);
  EXPECT_EQ(read_time_ns("2020-03-30T10:30:53Z?"), 0);
}

}  // namespace
}  // namespace hostler::lxd

#include "config.h"

#include <gtest/gtest.h>

#include <hostler/driver.hpp>

namespace hostler::local {
namespace {

/// What is wrong with a config that has `more` beside its root.
std::string problem(const std::string& more) {
  try {
    read_config(R"({"root": "/r")" + (more.empty() ? "" : ", " + more) + "}");
  } catch (const driver::Error& wrong) {
    const std::string text = wrong.what();
    const std::string head = "config.";
    return text.compare(0, head.size(), head) == 0 ? text.substr(head.size()) : text;
  }
  return "";
}

TEST(LocalConfigTest, NeedsNothingButARoot) {
  const Config config = read_config(R"({"root": "/var/lib/x/"})");

  EXPECT_EQ(config.root, "/var/lib/x");
  EXPECT_EQ(config.port, 2200);
  EXPECT_EQ(config.instances_max, 200);
  EXPECT_EQ(config.zones, std::vector<std::string>{"local"});
  EXPECT_EQ(config.confinement, "auto");
  EXPECT_TRUE(config.types.empty());
}

TEST(LocalConfigTest, ReadsEveryKeyOfItsSchema) {
  const Config config = read_config(R"({
    "root": "/r", "region": "here", "currency": "EUR", "zones": ["a", "b"], "port": 22,
    "instances_max": 7, "boot_delay": "5m", "sshd": "/s", "ssh_keygen": "/k", "supervisor": "/v",
    "confinement": "subreapers",
    "types": {"t": {"stock": {"a": 1}, "vcpus": 2, "gpus": 3, "ram_gib": 4, "scratch_gib": 5,
                    "architecture": "x86_64", "prices": [
      {"micros_per_hour": 5, "from": "2026-01-02T03:04:05Z", "zone": "b", "market": "spot"}]}},
    "dials": {
      "create_errors": [{"class": "QUOTA", "count": 3, "type": "t", "scope": ["GROUP", "REGION"],
                         "retry_after": "2h", "outcome": "unknown", "message": "m"}],
      "list_errors": [{"class": "TIMEOUT"}], "destroy_errors": [{"class": "INTERNAL"}],
      "create_reply_lost": 4, "create_delay": "1ms", "list_delay": "2ms", "destroy_delay": "3ms",
      "host_key_changes": "after_sshd", "host_key_changes_after": "4ms", "sshd_starts": "never"}})");

  EXPECT_EQ(config.boot_delay_ms, 300'000);
  const TypeConfig& type = config.types.at("t");
  EXPECT_EQ(type.stock_in.at("a"), 1);
  EXPECT_EQ(type.prices.at(0).from_unix_ns, 1'767'323'045'000'000'000);
  EXPECT_EQ(type.prices[0].market, HOSTLER_MARKET_SPOT);
  EXPECT_EQ(type.vcpus + type.gpus + type.ram_gib + type.scratch_gib, 14);
  EXPECT_EQ(type.architecture, "x86_64");
  const Dials::Failure& failure = config.dials.create_errors.at(0);
  EXPECT_EQ(failure.status, HOSTLER_E_QUOTA);
  EXPECT_EQ(failure.scope, HOSTLER_SCOPE_GROUP | HOSTLER_SCOPE_REGION);
  EXPECT_EQ(failure.retry_after_ms, 7'200'000);
  EXPECT_TRUE(failure.outcome_unknown);
  EXPECT_EQ(config.dials.sshd_delay_ms, -1);
  EXPECT_EQ(config.dials.key_change, Dials::KeyChange::kAfterSshd);
}

TEST(LocalConfigTest, SaysWhichFieldIsWrongWhatWasFoundAndWhatIsNeeded) {
  EXPECT_EQ(problem(R"("port": "22")"), "port is a string; needed: a whole number");
  EXPECT_EQ(problem(R"("port": 70000)"), "port is 70000; needed: 1 to 65535");
  EXPECT_EQ(problem(R"("port": 1.5)"),
            "port is a number that is not whole; needed: a whole number");
  EXPECT_EQ(problem(R"("port": 1, "port": 2)"), "port occurs twice");
  EXPECT_EQ(problem(R"("zones": ["a", 1])"), "zones[1] is a whole number; needed: a string");
  EXPECT_EQ(problem(R"("boot_delay": "5")"),
            R"(boot_delay is "5"; needed: a duration such as "250ms", "3s", "5m", "2h")");
  EXPECT_EQ(problem(R"("sshd": "sshd")"), "sshd must be an absolute path that begins with '/'");
  EXPECT_EQ(problem(R"("types": {"t": {"stock": {"a": 1}}})"),
            "types.t.stock.a names the zone \"a\", which is not in `zones`");
  EXPECT_EQ(problem(R"("types": {"t": {"prices": [{}]}})"),
            "types.t.prices[0].micros_per_hour is missing");
  EXPECT_EQ(problem(R"("dials": {"create_errors": [{"class": "OOPS"}]})")
                .find("dials.create_errors[0].class is \"OOPS\"; needed: one of INTERNAL, "),
            0U);
  EXPECT_EQ(
      problem(R"("dials": {"x": 1})").find("dials.x is unknown; needed: one of create_delay, "),
      0U);
  EXPECT_EQ(problem(R"("dials": null)"), "dials is null; needed: an object");
}

// Bugs: a member was known by what stands before its NUL, and a far time became one long past.
TEST(LocalConfigTest, RefusesWhatOnlyLooksRight) {
  EXPECT_EQ(problem(R"("port\u0000x": 22)").find("port"), 0U);
  EXPECT_EQ(problem(R"("zones": ["a\nb"])"), "zones[0] has a control character");
  EXPECT_EQ(
      problem(
          R"("types": {"t": {"prices": [{"micros_per_hour": 1, "from": "9999-01-01T00:00:00Z"}]}})"),
      "types.t.prices[0].from must be a time from 1970 to 2262");
}

TEST(LocalConfigTest, RefusesRootsThatSshdWouldReadOtherwise) {
  for (const char* root : {"relative", "/with space", "/per%cent", "/quo\\\"te", "/new\\nline"}) {
    const std::string json = std::string(R"({"root": ")") + root + "\"}";
    EXPECT_THROW(read_config(json), driver::Error) << json;
  }
}

TEST(LocalConfigTest, SurvivesWhatIsNoConfig) {
  const std::string deep(200'000, '[');
  for (const std::string& text : {std::string(), std::string("{"), std::string("[]"), deep,
                                  std::string("null"), std::string(2'000'000, ' ')})
    EXPECT_THROW(read_config(text), driver::Error) << text.substr(0, 10);
}

}  // namespace
}  // namespace hostler::local

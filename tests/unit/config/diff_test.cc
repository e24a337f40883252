#include "core/config/diff.h"

#include <gmock/gmock.h>

namespace hostler::config {
namespace {

using testing::ElementsAre;

void add_set(Config& config, const std::string& name) {
  config.sets.emplace_back().name = name;
  config.site.sets.emplace_back().name = name;
}

Config sample() {
  Config config;
  add_set(config, "s");
  config.site.pools.emplace_back().name = "p";
  return config;
}

std::vector<std::string> texts(const std::vector<DiffKey>& keys) {
  std::vector<std::string> out;
  for (const DiffKey& key : keys) out.push_back(to_string(key));
  return out;
}

TEST(DiffTest, EqualConfigsDifferInNothing) {
  const Diff none = diff(sample(), sample());

  EXPECT_THAT(texts(none.live), ElementsAre());
  EXPECT_THAT(texts(none.restart), ElementsAre());
}

TEST(DiffTest, PoliciesAreTakenOverAtOnce) {
  Config fresh = sample();
  fresh.site.pools[0].sizes.max = 7;
  fresh.site.pools.emplace_back().name = "q";
  fresh.site.sets[0].list_interval = 1s;
  fresh.site.quotas.submit.jobs_waiting_max = 5;
  fresh.log_level = "debug";

  const Diff found = diff(sample(), fresh);

  EXPECT_THAT(texts(found.live),
              ElementsAre("sets \"s\"", "pools \"p\"", "pools \"q\"", "quotas", "log.level"));
  EXPECT_THAT(texts(found.restart), ElementsAre());
}

// Kip's pages said that its cloud-config is read again, and it was read once.
TEST(DiffTest, WhatNewHostsGetAtBootIsTakenOverAtOnce) {
  Config old = sample();
  old.site.pools[0].cloud_config = std::string("#cloud-config\nhostname: a\n");
  old.site.pools[0].boot_files = std::vector<model::BootFile>{{"/x", "a", 0644, ""}};
  Config same = sample();
  same.site.pools[0].cloud_config = std::string("#cloud-config\nhostname: a\n");
  same.site.pools[0].boot_files = std::vector<model::BootFile>{{"/x", "a", 0644, ""}};
  EXPECT_THAT(texts(diff(old, same).live), ElementsAre()) << "read again, and the same";

  Config fresh = old;
  fresh.site.pools[0].cloud_config = std::string("#cloud-config\nhostname: b\n");
  EXPECT_THAT(texts(diff(old, fresh).live), ElementsAre("pools \"p\""));
  fresh = old;
  fresh.site.pools[0].boot_files = std::vector<model::BootFile>{{"/x", "b", 0644, ""}};
  EXPECT_THAT(texts(diff(old, fresh).live), ElementsAre("pools \"p\""));
  EXPECT_THAT(texts(diff(old, fresh).restart), ElementsAre());
}

TEST(DiffTest, MetricsAndScalingAreTakenOverAtOnce) {
  Config fresh = sample();
  fresh.site.metrics.emplace_back().name = "m";
  fresh.metric_sources.emplace_back().name = "m";
  fresh.site.pools[0].sizes.texts.min = "m";
  fresh.site.pools[0].scaling.lifetime_min = 1min;
  EXPECT_THAT(texts(diff(sample(), fresh).live), ElementsAre("pools \"p\"", "metrics"));
  Config other = fresh;
  other.metric_sources[0].query = "q";
  EXPECT_THAT(texts(diff(fresh, other).live), ElementsAre("metrics")) << "only its source";
  EXPECT_THAT(texts(diff(sample(), fresh).restart), ElementsAre());
}

TEST(DiffTest, SettingsOfADriverAreTakenOverAtOnce) {
  Config fresh = sample();
  fresh.sets[0].config_json = R"({"zone": "b"})";
  fresh.trusted_drivers.sha256["d"] = "ab";
  fresh.trusted_drivers.trust = model::DriverTrust::kSigned;
  fresh.trusted_drivers.keys["acme"] = "key";
  EXPECT_THAT(texts(diff(sample(), fresh).live),
              ElementsAre("driver_sha256", "driver_trust", "driver_keys",
                          "sets \"s\" (config or credentials)"));
  fresh = sample();
  fresh.sets[0].credentials_json = R"({"token": "new"})";
  EXPECT_THAT(texts(diff(sample(), fresh).live), ElementsAre("sets \"s\" (config or credentials)"));
  EXPECT_THAT(texts(diff(sample(), fresh).restart), ElementsAre());
}

// Bug: a leaked token could not be revoked without a restart.
TEST(DiffTest, TokensAreTakenOverAtOnceAndTheRestOfAccessIsNamed) {
  Config fresh = sample();
  fresh.access.tokens.push_back({"ci", "submit", "abc"});
  EXPECT_THAT(texts(diff(sample(), fresh).live),
              ElementsAre("access.tcp.tokens_file (its content)"));
  EXPECT_THAT(texts(diff(sample(), fresh).restart), ElementsAre());
  fresh.access.tcp_port = 7;
  EXPECT_THAT(texts(diff(sample(), fresh).restart), ElementsAre("access.tcp"));
}

TEST(DiffTest, WhatIsOpenNeedsARestart) {
  Config fresh = sample();
  fresh.access.socket_path = "/x";
  fresh.sets[0].driver = "other";
  fresh.site.pools.clear();

  const Diff found = diff(sample(), fresh);

  EXPECT_THAT(texts(found.live), ElementsAre());
  EXPECT_THAT(
      texts(found.restart),
      ElementsAre("access.socket", "sets \"s\" (driver, sandbox, keys, proxy, escalate or record)",
                  "pools (removed or in another order)"));
}

TEST(DiffTest, AnotherOrderOfSetsNeedsARestart) {
  Config old = sample();
  add_set(old, "r");
  Config fresh = old;
  std::swap(fresh.sets[0], fresh.sets[1]);
  std::swap(fresh.site.sets[0], fresh.site.sets[1]);

  EXPECT_THAT(texts(diff(old, fresh).restart),
              ElementsAre("sets (added, removed or in another order)"));
}

}  // namespace
}  // namespace hostler::config

#include <gmock/gmock.h>

#include "core/config/load.h"
#include "core/crypto/hash.h"
#include "tests/temp_folder.h"

namespace hostler::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

/// `type` and `pool` are members of the type "t" and of the pool "p".
Reading read_pushed_site(const std::string& type, const std::string& pool,
                         const std::string& top = "",
                         const std::filesystem::path& folder = "/etc/hostler") {
  return read_text("{" + top + R"(
      "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01, "gpus": 8)" +
                       type + R"(}],
      "ceilings": {"instances_max": 1000},
      "sets": [{"name": "s", "driver": "local"}],
      "pools": [{"name": "p", "sets": ["s"], "types": ["t"], )" +
                       pool + R"(}, {"name": "jobs", "sets": ["s"], "types": ["t"]}]})",
                   folder, {.surroundings = {.is_root = true}, .state_dir = {}});
}

std::vector<std::string> messages_of(const Reading& reading) {
  std::vector<std::string> out;
  for (const Error& error : reading.problems) out.push_back(error.message);
  return out;
}

std::vector<std::string> problems_of_pushed_pool(const std::string& members) {
  return messages_of(read_pushed_site("", members));
}
/// Members of `pushed`, in a pool of a kind that may have it.
std::vector<std::string> problems(const std::string& pushed) {
  return problems_of_pushed_pool(R"("readiness": "ssh", "pushed": {)" + pushed + "}");
}
model::PoolPolicy good_pushed_pool(const std::string& members) {
  const Reading reading = read_pushed_site("", members);
  for (const std::string& problem : messages_of(reading)) ADD_FAILURE() << problem;
  return reading.config.site.pools.at(0);
}

TEST(ReadPushedTest, ReadsEveryKey) {
  model::PushedPolicy policy{.max_age = 2min,
                             .shrink_after = 6min,
                             .starting = 25min,
                             .disconnected = 11min,
                             .agent_name = model::AgentName::kCloudId,
                             .aux_per_agent = 3,
                             .abandoned_after = 2h,
                             .lifetime_max = 24h};
  EXPECT_EQ(
      good_pushed_pool(R"("readiness": "cloud", "pushed": {"max_age": "2m", "shrink_after": "6m",
                "starting": "25m", "disconnected": "11m", "agent_name": "cloud_id",
                "aux_per_agent": 3, "abandoned_after": "2h", "lifetime_max": "1d"})")
          .pushed,
      policy);
}

TEST(ReadPushedTest, AnEmptyObjectHasTheDefaultsAndNoKeyMeansNoScheduler) {
  const model::PoolPolicy pool = good_pushed_pool(R"("readiness": "ssh", "pushed": {})");
  EXPECT_EQ(pool.pushed, model::PushedPolicy{});
  EXPECT_EQ(pool.idle_timeout, model::PoolPolicy{}.idle_timeout);
  EXPECT_EQ(good_pushed_pool(R"("min": 0)").pushed, std::nullopt);
}

TEST(ReadPushedTest, OffEndsNothing) {
  const auto pushed = good_pushed_pool(R"("readiness": "ssh", "pushed": {"abandoned_after": "off",
                                   "lifetime_max": "off"})")
                          .pushed;
  ASSERT_TRUE(pushed);
  EXPECT_EQ(pushed->abandoned_after, Duration{});
  EXPECT_EQ(pushed->lifetime_max, Duration{});
}

TEST(ReadPushedTest, EachWordNamesAgentsInAnotherWay) {
  const auto named = [](const std::string& word) {
    return good_pushed_pool(R"("readiness": "ssh", "pushed": {"agent_name": ")" + word + "\"}")
        .pushed->agent_name;
  };
  EXPECT_EQ(named("instance"), model::AgentName::kInstance);
  EXPECT_EQ(named("cloud_id"), model::AgentName::kCloudId);
  EXPECT_EQ(named("address"), model::AgentName::kAddress);
  EXPECT_THAT(problems(R"("agent_name": "hostname")"),
              ElementsAre(AllOf(HasSubstr("pools[0].pushed.agent_name: found \"hostname\""),
                                HasSubstr("instance, cloud_id, address"))));
}

TEST(ReadPushedTest, LimitsAreIncluded) {
  EXPECT_THAT(problems(R"("max_age": "1s", "shrink_after": "1s", "starting": "1s",
                          "disconnected": "1s", "aux_per_agent": 0, "abandoned_after": "2s",
                          "lifetime_max": "1s")"),
              IsEmpty());
  EXPECT_THAT(problems(R"("max_age": "1h", "shrink_after": "24h", "starting": "24h",
                          "disconnected": "24h", "aux_per_agent": 1000000,
                          "abandoned_after": "3650d", "lifetime_max": "3650d")"),
              IsEmpty());
}

TEST(ReadPushedTest, RefusesValuesBeyondLimitsAndOfOtherKinds) {
  const auto refuses = [](const std::string& key, const std::string& value) {
    EXPECT_THAT(problems("\"" + key + "\": " + value),
                ElementsAre(HasSubstr("pools[0].pushed." + key + ": ")))
        << value;
  };
  for (const std::string key : {"max_age", "shrink_after", "starting", "disconnected"})
    for (const std::string bad : {"\"0s\"", "\"999ms\"", "\"-1m\"", "\"off\"", "60", "null"})
      refuses(key, bad);
  refuses("max_age", "\"61m\"");
  for (const std::string key : {"shrink_after", "starting", "disconnected"})
    refuses(key, "\"1441m\"");
  for (const std::string key : {"abandoned_after", "lifetime_max"})
    for (const std::string bad :
         {"\"0s\"", "\"999ms\"", "\"-1m\"", "\"3651d\"", "\"Off\"", "\"\"", "0", "false"})
      refuses(key, bad);
  for (const std::string bad : {"-1", "1000001", "1.5", "\"1\"", "99999999999999999999"})
    refuses("aux_per_agent", bad);
  for (const std::string bad : {"\"3651d\"", "60"})
    EXPECT_THAT(problems("\"abandoned_after\": " + bad),
                ElementsAre(HasSubstr("allowed: \"off\", or a duration from 1s to 3650d")));
}

TEST(ReadPushedTest, RefusesTimesThatContradictEachOther) {
  EXPECT_THAT(problems(R"("shrink_after": "59s")"),
              ElementsAre(HasSubstr("pools[0].pushed.shrink_after: shrink_after 59s is below "
                                    "max_age 1m")));
  EXPECT_THAT(problems(R"("max_age": "6m")"),
              ElementsAre(HasSubstr("pools[0].pushed.max_age: shrink_after 5m is below max_age")));
  EXPECT_THAT(problems(R"("max_age": "5m")"), IsEmpty());
  EXPECT_THAT(problems(R"("abandoned_after": "1m")"),
              ElementsAre(HasSubstr("pools[0].pushed.abandoned_after: found 1m, allowed: \"off\", "
                                    "or more than max_age 1m")));
}

TEST(ReadPushedTest, RefusesOtherKeysAndOtherKinds) {
  EXPECT_THAT(problems(R"("idle": "5m")"),
              ElementsAre(HasSubstr("pools[0].pushed.idle: unknown key; known here: max_age, "
                                    "shrink_after, starting, disconnected, agent_name")));
  EXPECT_THAT(problems_of_pushed_pool(R"("readiness": "ssh", "pushed": true, "leases": {})"),
              testing::Contains(HasSubstr("pools[0].pushed: found true, allowed: an object")));
}

TEST(ReadPushedTest, HostsOfAnOutsideSchedulerRunNoJobs) {
  for (const std::string kind : {"ssh", "cloud", "reported"})
    EXPECT_THAT(problems_of_pushed_pool(R"("pushed": {}, "readiness": ")" + kind + "\""), IsEmpty())
        << kind;
  EXPECT_THAT(problems_of_pushed_pool(R"("pushed": {}, "readiness": "agent")"),
              ElementsAre(HasSubstr("pools[0].readiness: a pool with `pushed` needs readiness ssh, "
                                    "cloud or reported")));
  EXPECT_THAT(problems_of_pushed_pool(R"("pushed": {})"),
              ElementsAre(HasSubstr("pools[0].pushed: a pool with `pushed` needs readiness ssh")));
}

// An instance of 5.3.4: hosts are drained by the handshake, and by nothing else.
TEST(ReadPushedTest, RefusesWhatMakesNoSenseBesideAnOutsideScheduler) {
  const auto beside = [](const std::string& member) {
    return problems_of_pushed_pool(R"("readiness": "ssh", "pushed": {}, )" + member);
  };
  const std::pair<std::string, std::string> refused[] = {
      {"leases", "{}"},
      {"standby", "1"},
      {"stopped", "1"},
      {"created_min", "1"},
      {"created_max", "100"},
      {"scaling", R"({"drain": {"command": ["/usr/bin/true"]}})"},
      {"attempts_parallel_max", "1"},
      {"uses_max", "1"},
  };
  for (const auto& [key, value] : refused) {
    const auto found = beside("\"" + key + "\": " + value);
    EXPECT_THAT(found, ElementsAre(AllOf(HasSubstr("pools[0]." + key +
                                                   ": it is not allowed beside "
                                                   "`pushed`, because "),
                                         HasSubstr("remove one of the two"))));
  }
  for (const std::string bound : {"min", "max"})
    EXPECT_THAT(beside("\"" + bound + "\": \"2 + 2\""),
                ElementsAre(HasSubstr("pools[0]." + bound +
                                      ": found an expression, allowed beside `pushed`: a number")));
  EXPECT_THAT(beside(R"("min": 2, "max": 9, "idle_timeout": "20m", "boot_timeout": "5m")"),
              IsEmpty());
}

TEST(ReadPushedTest, WithReportsTheBootTimeoutFollowsFromTheTimersOfAgents) {
  const std::string pushed =
      R"("pushed": {"starting": "15m", "disconnected": "5m"}, "readiness": )";
  EXPECT_EQ(good_pushed_pool(pushed + "\"reported\"").boot_timeout, 20min);
  EXPECT_EQ(good_pushed_pool(pushed + "\"ssh\"").boot_timeout, 10min);
  EXPECT_THAT(problems_of_pushed_pool(pushed + R"("reported", "boot_timeout": "20m")"),
              ElementsAre(AllOf(HasSubstr("pools[0].boot_timeout: it is not allowed beside"),
                                HasSubstr("together, 20m: remove it"))));
}

TEST(ReadPushedTest, SlotsAreTheGpusUnlessTheTypeSaysOtherwise) {
  const auto slots = [](const std::string& type) {
    return read_pushed_site(type, "\"min\": 0").config.site.types.at(0).resources.slots;
  };
  EXPECT_EQ(slots(""), 8);
  EXPECT_EQ(slots(", \"slots\": 0"), 0);
  EXPECT_EQ(slots(", \"slots\": 1000000"), 1'000'000);
  for (const std::string bad : {"-1", "1000001", "1.5", "\"8\"", "null", "99999999999999999999"})
    EXPECT_THAT(messages_of(read_pushed_site(", \"slots\": " + bad, "\"min\": 0")),
                ElementsAre(HasSubstr("types[0].slots: found ")))
        << bad;
}

/// Of a token of the site whose pool "p" is pushed and whose pool "jobs" is not.
std::vector<std::string> token_problems(const std::string& members,
                                        std::vector<Token>* tokens = nullptr) {
  const test::TempFolder folder;
  folder.put("t", R"({"tokens": [{"name": "det", "sha256": ")" + crypto::sha256_hex("x") + "\", " +
                      members + "}]}");
  const Reading reading =
      read_pushed_site("", R"("readiness": "ssh", "pushed": {})",
                       R"("access": {"tcp": {"port": 1, "tokens_file": "t"}},)", folder.path());
  if (tokens) *tokens = reading.config.access.tokens;
  return messages_of(reading);
}

TEST(ReadPushedTest, AScalerHasItsPools) {
  std::vector<Token> tokens;
  EXPECT_THAT(token_problems(R"("role": "scaler", "pools": ["p"])", &tokens), IsEmpty());
  EXPECT_EQ(tokens, (std::vector<Token>{{"det", "scaler", crypto::sha256_hex("x"), {"p"}}}));
}

TEST(ReadPushedTest, RefusesAScalerOfNoPoolOrOfOnesThatNobodyPushesFor) {
  const std::string scaler = R"("role": "scaler")";
  EXPECT_THAT(token_problems(scaler), ElementsAre(HasSubstr("tokens[0].pools: missing")));
  EXPECT_THAT(token_problems(scaler + R"(, "pools": [])"),
              ElementsAre(HasSubstr("tokens[0].pools: found no pool, allowed: at least one")));
  EXPECT_THAT(token_problems(scaler + R"(, "pools": "p")"),
              ElementsAre(HasSubstr("tokens[0].pools: found \"p\", allowed: an array")));
  EXPECT_THAT(token_problems(scaler + R"(, "pools": ["p", "p"])"),
              ElementsAre(HasSubstr("tokens[0].pools")));
  for (const std::string other : {"jobs", "nope"})
    EXPECT_THAT(
        token_problems(scaler + R"(, "pools": ["p", ")" + other + "\"]"),
        ElementsAre(HasSubstr("access.tcp.tokens_file: token \"det\" has the pool \"" + other +
                              "\", which is not a configured pool with `pushed`, allowed: p")));
}

TEST(ReadPushedTest, OtherRolesHaveNoPools) {
  for (const std::string role : {"admin", "submit", "read"})
    EXPECT_THAT(token_problems(R"("pools": ["p"], "role": ")" + role + "\""),
                ElementsAre(HasSubstr("tokens[0].pools: only a token with the role scaler has")))
        << role;
}

}  // namespace
}  // namespace hostler::config

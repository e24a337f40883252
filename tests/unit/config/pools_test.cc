#include <gmock/gmock.h>

#include "core/config/load.h"

namespace hostler::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

Reading read_pool(const std::string& pool) {
  return read_text(R"({
      "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01},
                {"name": "u", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
      "sets": [{"name": "s", "driver": "local"}], "pools": [)" +
                       pool + "]}",
                   "/", {.surroundings = {.is_root = true}, .state_dir = {}});
}

std::vector<std::string> pool_problems(const std::string& members) {
  std::vector<std::string> out;
  for (const Error& error :
       read_pool(R"({"name": "p", "sets": ["s"], "types": ["t"], )" + members + "}").problems)
    out.push_back(error.message);
  return out;
}

TEST(PoolsTest, ReadsEveryKey) {
  const Reading reading = read_pool(R"({"name": "p", "sets": ["s"], "types": ["u", "t"],
      "min": 1, "max": 5, "standby": 2, "ceilings": {"instances_max": 6, "price_per_hour_max": 1.5,
      "creates_per_minute_max": 7, "destroys_per_decision_max": 8}, "idle_timeout": "2m",
      "boot_timeout": "3m", "probe_timeout": "4m", "shutdown_timeout": "5s",
      "price_factor_max": 3.5, "price_cap_per_hour": 0.25, "spot_patience": "6m",
      "spot_shortage_patience": "0s",
      "starvation_after": "7m", "readiness": "agent",
      "leases": {"max_term": "8h", "login": "none", "notice_before": "13m", "grace": "14s",
      "clean_command": "g"}, "verify": ["challenge"], "rotate_keys": false,
      "root_disk": "30GiB", "subnets": ["sn", {"id": "so", "zone": "z"}],
      "security_groups": ["sg-1", "sg-2"], "profiles": ["default", "big"], "placement_group": "pg",
      "capacity_reservation": "cr", "identity_profile": "ip", "tenancy": "host",
      "public_address": "no",
      "provider_params": {"a": [1]}, "init_command": "a", "init_failure": "warn",
      "cloud_config": "#cloud-config\nhostname: x\n", "boot_files": [{"path": "/etc/x",
      "content": "y", "mode": "0400", "owner": "root:adm"}],
      "init_delivery": "ssh", "boot_probe": "b", "broken_checks":
      [{"name": "c", "command": "d", "interval": "8s"}], "gpu_command": "h", "attempts_parallel_max": 9, "uses_max": 10,
      "interruption_check": {"command": "e", "interval": "9s"}, "interruption_command": "f",
      "interruption_lead": "11m", "interruption_margin": "12s",
      "no_new_privs": false, "drop_capabilities": false})");
  ASSERT_TRUE(reading.problems.empty()) << reading.problems[0].message;

  model::PoolPolicy pool;
  pool.name = "p", pool.sets = {"s"}, pool.types = {"u", "t"};
  pool.sizes.min = 1, pool.sizes.max = 5, pool.sizes.standby = 2;
  pool.ceilings = {6, {1'500'000}, 7, 8};
  pool.idle_timeout = 2min, pool.boot_timeout = 3min, pool.probe_timeout = 4min;
  pool.shutdown_timeout = 5s, pool.price_factor_max = 3.5, pool.price_cap_per_hour = {250'000};
  pool.spot_patience = 6min, pool.starvation_after = 7min;
  pool.leases = {.max_term = 8h, .clean_command = "g", .notice_before = 13min, .grace = 14s};
  pool.verify = {model::VerifyMethod::kChallenge}, pool.rotate_keys = false;
  pool.placement = {.root_disk = std::int64_t{30} << 30,
                    .subnets = {{"sn", ""}, {"so", "z"}},
                    .security_groups = {"sg-1", "sg-2"},
                    .profiles = {"default", "big"},
                    .placement_group = "pg",
                    .capacity_reservation = "cr",
                    .identity_profile = "ip",
                    .tenancy = model::Tenancy::kHost,
                    .public_address = model::PublicAddress::kNo};
  pool.provider_params = {{"t", R"({"a":[1]})"}, {"u", R"({"a":[1]})"}};
  pool.init_command = "a", pool.init_failure = model::InitFailure::kWarn;
  pool.cloud_config = std::string("#cloud-config\nhostname: x\n");
  pool.boot_files = std::vector<model::BootFile>{{"/etc/x", "y", 0400, "root:adm"}};
  pool.init_delivery = model::InitDelivery::kSsh, pool.boot_probe = "b";
  pool.broken_checks = {{"c", "d", 8s}}, pool.attempts_parallel_max = 9;
  pool.uses_max = 10, pool.gpu_command = "h";
  pool.interruption_check = {"e", 9s}, pool.interruption_command = "f";
  pool.interruption_lead = 11min, pool.interruption_margin = 12s;
  pool.no_new_privs = pool.drop_capabilities = false;
  EXPECT_EQ(reading.config.site.pools[0], pool);
}

TEST(PoolsTest, APoolLendsHostsOnlyIfItSaysSo) {
  const auto leases = [](const std::string& members) {
    return read_pool(R"({"name": "p", "sets": ["s"], "types": ["t"])" + members + "}")
        .config.site.pools.at(0)
        .leases;
  };
  EXPECT_EQ(leases(""), std::nullopt);
  EXPECT_EQ(leases(R"(, "leases": {})"), model::LeasePolicy{});
  for (const char* bad : {"0s", "999ms", "366d", "3650d", "-1h"})
    EXPECT_THAT(pool_problems(R"("leases": {"max_term": ")" + std::string(bad) + R"("})"),
                ElementsAre(HasSubstr("pools[0].leases.max_term: ")))
        << bad;
  EXPECT_THAT(pool_problems(R"("leases": true)"),
              ElementsAre(HasSubstr("pools[0].leases: found true, allowed: an object")));
  EXPECT_THAT(pool_problems(R"("leases": {"term": "1h"})"),
              ElementsAre(HasSubstr("pools[0].leases.term: unknown key; known here: max_term, "
                                    "login, notice_before, grace, clean_command")));
}

TEST(PoolsTest, NothingCleansAHostThatNobodyConnectsTo) {
  const std::string cleans = R"("leases": {"clean_command": "c"}, "readiness": ")";
  for (const std::string kind : {"cloud", "reported"})
    EXPECT_THAT(pool_problems(cleans + kind + "\""),
                ElementsAre(HasSubstr("pools[0].leases: clean_command needs readiness agent or")))
        << kind;
  for (const std::string kind : {"agent", "ssh"})
    EXPECT_THAT(pool_problems(cleans + kind + "\""), IsEmpty()) << kind;
}

// The set of read_pool() is of the driver `local`.
TEST(PoolsTest, HostsThatShareTheAccountsOfThisMachineAreLentWithoutALogin) {
  for (const std::string login : {"user", "root"})
    EXPECT_THAT(pool_problems(R"("leases": {"login": ")" + login + R"("})"),
                ElementsAre(HasSubstr("pools[0].leases: login is not allowed with set \"s\"")));
  EXPECT_THAT(pool_problems(R"("leases": {"login": "none"})"), IsEmpty());
}

TEST(PoolsTest, ALoginNeedsAHostThatHostlerConnectsToAndThatIsDestroyedAfterwards) {
  const auto problems = [](const std::string& members, const std::string& set = "") {
    std::vector<std::string> out;
    for (const auto& problem : read_text(R"({
        "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
        "sets": [{"name": "s", "driver": "lxd")" +
                                             set + R"(}],
        "pools": [{"name": "p", "sets": ["s"], "types": ["t"], )" +
                                             members + "}]}",
                                         "/", {.surroundings = {.is_root = true}, .state_dir = {}})
                                   .problems)
      out.push_back(problem.message);
    return out;
  };
  const std::string login = R"("leases": {"login": "user"}, "readiness": ")";
  EXPECT_THAT(problems(login + "agent\""), IsEmpty());
  EXPECT_THAT(problems(login + "ssh\""), IsEmpty());
  EXPECT_THAT(problems(login + "cloud\""), ElementsAre(HasSubstr("login needs readiness agent")));
  EXPECT_THAT(problems(R"("leases": {"login": "root", "clean_command": "c"})"),
              ElementsAre(HasSubstr("clean_command is never run with login")));
  const std::string user = R"(, "remote_user": "admin", "escalate": ")";
  EXPECT_THAT(problems(login + "agent\"", user + "none\""),
              ElementsAre(HasSubstr("\"s\" has the remote_user \"admin\" and escalate none")));
  EXPECT_THAT(problems(login + "agent\"", user + "sudo\""), IsEmpty());
  EXPECT_THAT(problems(login + "agent\"", R"(, "escalate": "none")"), IsEmpty()) << "root, maybe";
  EXPECT_THAT(problems(R"("leases": {"max_term": "5m"})"), IsEmpty()) << "by default 10m";
  EXPECT_THAT(problems(R"("leases": {"max_term": "5m", "notice_before": "6m"})"),
              ElementsAre(HasSubstr("notice_before: found 6m, which is above max_term 5m")));
  for (const std::string bad :
       {R"("login": "admin")", R"("grace": "2h")", R"("notice_before": "2d")"})
    EXPECT_THAT(problems("\"leases\": {" + bad + "}"), ElementsAre(HasSubstr("pools[0].leases.")))
        << bad;
}

TEST(PoolsTest, ProviderParamsOfThePoolTakeThePlaceOfThoseOfTheTypeOneByOne) {
  const Reading reading = read_text(R"({
      "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01,
                 "provider_params": {"a": 1, "b": {"c": 2}}},
                {"name": "u", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
      "sets": [{"name": "s", "driver": "local"}],
      "pools": [{"name": "p", "sets": ["s"], "types": ["t"],
                 "provider_params": {"b": {"d": 3}, "e": "x"}},
                {"name": "q", "sets": ["s"], "types": ["t", "u"]}]})",
                                    "/", {.surroundings = {.is_root = true}, .state_dir = {}});
  ASSERT_TRUE(reading.problems.empty()) << reading.problems[0].message;

  const auto& pools = reading.config.site.pools;
  EXPECT_EQ(pools[0].provider_params,
            (std::map<std::string, std::string>{{"t", R"({"a":1,"b":{"d":3},"e":"x"})"}}));
  EXPECT_TRUE(pools[1].provider_params.empty()) << "the type's own";
}

TEST(PoolsTest, AnImageIsDescribedByPoolTypeAndSet) {
  const Reading reading = read_text(R"({
      "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01, "image": {"name": "a*"}}],
      "sets": [{"name": "s", "driver": "local", "image": {"owner": "us"}, "images_interval": "9m"}],
      "pools": [{"name": "p", "sets": ["s"], "types": ["t"],
                 "image": {"architecture": "x86_64", "filters": {"release": "12"}}}]})",
                                    "/", {.surroundings = {.is_root = true}, .state_dir = {}});
  ASSERT_TRUE(reading.problems.empty()) << reading.problems[0].message;

  const auto& site = reading.config.site;
  EXPECT_EQ(site.types[0].image, (model::ImageQuery{"a*", "", "", {}}));
  EXPECT_EQ(site.sets[0].image, (model::ImageQuery{"", "us", "", {}}));
  EXPECT_EQ(site.sets[0].images_interval, 9min);
  EXPECT_EQ(site.pools[0].image, (model::ImageQuery{"", "", "x86_64", {{"release", "12"}}}));
}

TEST(PoolsTest, RefusesAnImageThatSaysNothingOrTooMuchAndNamesTheKey) {
  EXPECT_THAT(pool_problems(R"("image": {})"),
              ElementsAre(HasSubstr("pools[0].image: found no key, allowed: name, owner,")));
  EXPECT_THAT(pool_problems(R"("image": {"name": ""})").at(0), HasSubstr("pools[0].image.name"));
  EXPECT_THAT(pool_problems(R"("image": {"owner": "a\"b"})"),
              ElementsAre(HasSubstr("pools[0].image.owner: it must have no quotation marks")));
  EXPECT_THAT(pool_problems(R"("image": {"filters": {"": "x"}})").at(0),
              HasSubstr("pools[0].image.filters"));
  EXPECT_THAT(pool_problems(R"("image": {"name": ")" + std::string(128, 'x') + "\"}").at(0),
              HasSubstr("127"));
  const Reading reading = read_text(R"({
      "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01, "image_id": "i",
                 "image": {"name": "a*"}}],
      "sets": [{"name": "s", "driver": "local"}],
      "pools": [{"name": "p", "sets": ["s"], "types": ["t"]}]})",
                                    "/", {.surroundings = {.is_root = true}, .state_dir = {}});
  ASSERT_EQ(reading.problems.size(), 1U);
  EXPECT_THAT(reading.problems[0].message,
              HasSubstr("types[0].image: image_id names one image already"));
}

TEST(PoolsTest, NamesOfTheCloudAreGivenOnceEach) {
  EXPECT_THAT(pool_problems(R"("security_groups": ["a", "a"], "profiles": [""])"),
              ElementsAre(HasSubstr("pools[0].security_groups[1]: found \"a\" a second time"),
                          HasSubstr("pools[0].profiles[0]")));
}

TEST(PoolsTest, APoolThatNeitherRunsJobsNorLendsIsOfNoUse) {
  for (const std::string kind : {"ssh", "cloud", "reported"}) {
    EXPECT_THAT(pool_problems("\"readiness\": \"" + kind + "\""),
                ElementsAre(AllOf(HasSubstr("pools[0].readiness"), HasSubstr(kind),
                                  HasSubstr("run no jobs"), HasSubstr("`leases`"))));
    EXPECT_THAT(pool_problems("\"leases\": {}, \"readiness\": \"" + kind + "\""), IsEmpty());
  }
  EXPECT_THAT(pool_problems("\"readiness\": \"no\""), ElementsAre(HasSubstr("reported")));
}

TEST(PoolsTest, NothingIsSentToAHostThatNobodyConnectsTo) {
  const std::string by_ssh = R"("leases": {}, "init_command": "a", "init_delivery": "ssh", )";
  EXPECT_THAT(pool_problems(by_ssh + R"("readiness": "ssh")"), IsEmpty());
  for (const std::string kind : {"cloud", "reported"})
    EXPECT_THAT(pool_problems(by_ssh + "\"readiness\": \"" + kind + "\""),
                ElementsAre(AllOf(HasSubstr("pools[0].init_delivery"), HasSubstr("user_data"))));
}

TEST(PoolsTest, WarnsOfHostsThatNobodyProvesAndOfKeysWithoutEffect) {
  Config config;
  model::PoolPolicy& pool = config.site.pools.emplace_back();
  pool.name = "p";
  pool.leases.emplace();
  pool.boot_probe = "test -e /done";
  pool.broken_checks = {{"c", "d", 8s}}, pool.gpu_command = "list-cards";
  const auto warnings = [&](model::Readiness kind) {
    pool.readiness = kind;
    return warnings_of(config);
  };
  EXPECT_THAT(warnings(model::Readiness::kAgent), IsEmpty());
  EXPECT_THAT(warnings(model::Readiness::kSsh),
              ElementsAre(HasSubstr("have no effect: broken_checks, gpu_command")));
  for (const auto kind : {model::Readiness::kCloud, model::Readiness::kReported})
    EXPECT_THAT(warnings(kind),
                ElementsAre(HasSubstr("nobody proves its hosts"),
                            HasSubstr("have no effect: boot_probe, broken_checks, gpu_command")));
}

TEST(PoolsTest, RefusesNamesOfNothing) {
  const Reading reading = read_pool(R"({"name": "p", "sets": ["nope", "s", "s"], "types": []})");
  ASSERT_EQ(reading.problems.size(), 3U);

  EXPECT_THAT(
      reading.problems[0].message,
      HasSubstr(
          "pools[0].sets[0]: found \"nope\", which is not a configured set, allowed: s (at "));
  EXPECT_THAT(reading.problems[1].message,
              HasSubstr("pools[0].sets[2]: found \"s\" a second time"));
  EXPECT_THAT(reading.problems[2].message, HasSubstr("pools[0].types: found no type"));
}

TEST(PoolsTest, RefusesMinAndStandbyAboveMax) {
  EXPECT_THAT(pool_problems(R"("min": 3, "max": 2, "standby": 4)"),
              ElementsAre(HasSubstr("pools[0].min: min 3 is above max 2"),
                          HasSubstr("pools[0].standby: standby 4 is above max 2")));
  EXPECT_THAT(pool_problems(R"("min": 101)"), ElementsAre(HasSubstr("min 101 is above max 100")));
}

TEST(PoolsTest, NeverTrustsHostsUnproved) {
  EXPECT_THAT(pool_problems(R"("verify": [])"), ElementsAre(HasSubstr("found no method")));
  EXPECT_THAT(pool_problems(R"("verify": ["none"])"),
              ElementsAre(HasSubstr("found \"none\", allowed: driver, delivered, challenge")));
  EXPECT_THAT(pool_problems(R"("verify": ["driver", "driver"])"), ElementsAre(HasSubstr("twice")));
}

TEST(PoolsTest, RefusesTimersAndPricesThatCannotBe) {
  EXPECT_THAT(pool_problems(R"("boot_timeout": "0s", "idle_timeout": 60, "price_factor_max": 0.5,
                             "price_cap_per_hour": -1)"),
              ElementsAre(HasSubstr("pools[0].idle_timeout: found 60, allowed: a duration"),
                          HasSubstr("pools[0].boot_timeout: found \"0s\""),
                          HasSubstr("pools[0].price_factor_max: found 0.5"),
                          HasSubstr("pools[0].price_cap_per_hour: found -1")));
}

TEST(PoolsTest, SettingsWithoutEffectAreWarnedOf) {
  const auto warnings = [](const std::string& members) {
    return read_pool(R"({"name": "p", "sets": ["s"], "types": ["t", "u"], )" + members + "}")
        .warnings;
  };
  EXPECT_THAT(warnings(R"("init_failure": "warn")"),
              ElementsAre(HasSubstr("\"p\" has init_failure, but no init_command")));
  EXPECT_THAT(warnings(R"("init_failure": "warn", "init_command": "true")"), ElementsAre());
  EXPECT_THAT(warnings(R"("init_failure": "warn", "boot_files": [{"path": "/x", "content": ""}])"),
              ElementsAre());
  EXPECT_THAT(warnings(R"("probe_timeout": "6h")"),
              ElementsAre(HasSubstr("\"s\" has mass_unreachable_hold 6h, which is not longer than "
                                    "the probe_timeout 6h of pool \"p\"")));
  EXPECT_THAT(warnings(R"("probe_timeout": "5h")"), ElementsAre());
}

}  // namespace
}  // namespace hostler::config

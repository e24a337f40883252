#include "core/config/load.h"

#include <gmock/gmock.h>

#include <chrono>

#include "core/config/check.h"
#include "tests/temp_folder.h"

namespace hostler::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

const std::string kSmallest = R"({
  "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
  "sets": [{"name": "s", "driver": "local"}],
  "pools": [{"name": "p", "sets": ["s"], "types": ["t"]}]})";

LoadOptions as_root() { return {.surroundings = {.is_root = true}, .state_dir = {}}; }

std::vector<std::string> problems_of(std::string_view text) {
  std::vector<std::string> out;
  for (const Error& error : read_text(text, "/etc/hostler", as_root()).problems)
    out.push_back(error.message);
  return out;
}

/// kSmallest with `from` replaced, once.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kSmallest;
  return text.replace(text.find(from), from.size(), to);
}

TEST(LoadTest, SmallestConfigHasDefaultsForAllElse) {
  const Reading reading = read_text(kSmallest, "/etc/hostler", as_root());
  ASSERT_THAT(reading.problems, SizeIs(0)) << reading.problems[0].message;
  const Config& config = reading.config;

  EXPECT_EQ(config.state_dir, "/var/lib/hostler");
  EXPECT_EQ(config.access.socket_path, "/run/hostler/hostler.sock");
  EXPECT_EQ(config.access.socket_mode, 0660U);
  EXPECT_EQ(config.access.tcp_address, "");
  EXPECT_EQ(config.site.types[0].provider_type, "t");
  EXPECT_EQ(config.site.types[0].price_per_hour.value, 10'000);
  EXPECT_EQ(config.sets[0].config_json, "{}");
  model::PoolPolicy pool;
  pool.name = "p", pool.sets = {"s"}, pool.types = {"t"};
  EXPECT_EQ(config.site.pools[0], pool);
  EXPECT_EQ(config.limits, Limits{});
  EXPECT_THAT(reading.warnings, ElementsAre());
}

TEST(LoadTest, AHalfLifeIsFromAMinuteToAYear) {
  const auto fair_share = [](const std::string& half_life) {
    return with("\"types\"",
                R"("scheduler": {"fair_share": {"half_life": ")" + half_life + "\"}}, \"types\"");
  };
  EXPECT_EQ(read_text(fair_share("2h"), "/etc/hostler", as_root()).config.site.half_life,
            std::chrono::hours(2));
  for (const char* bad : {"0s", "59s", "366d", "-1h"})
    EXPECT_THAT(problems_of(fair_share(bad)), SizeIs(1)) << bad;
}

TEST(LoadTest, TakesAConnectionStringAndRefusesAPasswordInIt) {
  const auto in_store = [](const std::string& conninfo) {
    return with("\"types\"", R"("store": {"postgres": ")" + conninfo + R"("}, "types")");
  };
  for (const auto* bare :
       {"", "host=/run/postgresql dbname=hostler", "user=password_admin passfile=/etc/x",
        "postgresql://ann@db.example.org:5432/hostler"}) {
    EXPECT_THAT(problems_of(in_store(bare)), SizeIs(0)) << bare;
    EXPECT_EQ(read_text(in_store(bare), "/etc/hostler", as_root()).config.postgres, bare);
  }
  for (const auto* secret : {"dbname=x password=opensesame", "sslpassword = opensesame",
                             "postgresql://ann:opensesame@db.example.org/hostler"})
    EXPECT_THAT(problems_of(in_store(secret)),
                ElementsAre(AllOf(HasSubstr("store.postgres: it contains a password"),
                                  Not(HasSubstr("opensesame")))))
        << secret;
}

TEST(LoadTest, ATypeReservesRamAndLimitsItsJobs) {
  const auto type = [](const std::string& more) {
    return with("\"price\": 0.01}", more + ", \"price\": 0.01}");
  };
  const auto one = [&](const std::string& more) {
    return read_text(type(more), "/etc/hostler", as_root()).config.site.types[0];
  };
  EXPECT_EQ(one("\"jobs_max\": 7").jobs_max, 7);
  EXPECT_EQ(one("\"reserve\": \"512MiB\"").reserve, (model::RamReserve{512 << 20, 0}));
  EXPECT_EQ(one("\"reserve\": \"2.25%\"").reserve, (model::RamReserve{0, 225}));
  EXPECT_EQ(one("\"reserve\": \"90%\"").reserve, (model::RamReserve{0, 9000}));
  for (const char* bad : {"\"1GiB\"", "\"90.01%\"", "\"5.125%\"", "\"-5%\"", "\"%\"", "\"5\"", "5",
                          "\"nan%\"", "\"1e1%\"", "\"9999999999%\""})
    EXPECT_THAT(problems_of(type("\"reserve\": " + std::string(bad))),
                ElementsAre(HasSubstr("types[0].reserve: found")))
        << bad;
  for (const char* bad : {"0", "4001", "-1", "1.5"})
    EXPECT_THAT(problems_of(type("\"jobs_max\": " + std::string(bad))),
                ElementsAre(HasSubstr("types[0].jobs_max: found")))
        << bad;
}

TEST(LoadTest, NamesAllProblemsAtOnce) {
  EXPECT_THAT(problems_of(R"({"log": {"level": "loud"},
      "types": [{"name": "T", "vcpus": 0, "ram": 5, "price": "much"}],
      "sets": [{"name": "s"}], "pools": [], "extra": 1})"),
              ElementsAre(HasSubstr("types[0].name: found \"T\", allowed: a name"),
                          HasSubstr("types[0].vcpus: found 0"), HasSubstr("types[0].ram: found 5"),
                          HasSubstr("types[0].price: found \"much\", allowed: a number"),
                          HasSubstr("sets[0].driver: missing"),
                          HasSubstr("log.level: found \"loud\", allowed: debug, info, warn, error"),
                          HasSubstr("extra: unknown key; known here: state_dir, store")));
}

TEST(LoadTest, IsolationSaysNothingAnyMore) {
  const std::string set = R"("driver": "local")", site = R"("types")";
  const auto both = [&](const std::string& value) {
    std::string text = with(set, set + ", \"isolation\": " + value);
    return text.replace(text.find(site), site.size(), "\"isolation\": " + value + ", " + site);
  };

  const Reading child = read_text(both("\"child\""), "/etc/hostler", as_root());
  EXPECT_THAT(child.problems, SizeIs(0));
  EXPECT_THAT(child.warnings, ElementsAre(StartsWith("isolation: each driver runs in a process"),
                                          StartsWith("sets[0].isolation: each driver runs")));
  for (const std::string other : {"\"in-process\"", "\"thread\"", "true"})
    EXPECT_THAT(
        problems_of(both(other)),
        ElementsAre(AllOf(StartsWith("isolation: found " + other), HasSubstr("remove the key")),
                    AllOf(StartsWith("sets[0].isolation: found " + other),
                          HasSubstr("\"sandbox\": \"files\" or \"none\" in its set"))));
}

TEST(LoadTest, RefusesTwoThingsOfOneName) {
  EXPECT_THAT(
      problems_of(with(R"({"name": "s", "driver": "local"})",
                       R"({"name": "s", "driver": "local"}, {"name": "s", "driver": "x"})")),
      ElementsAre(HasSubstr("sets[1].name: found \"s\" a second time")));
}

TEST(LoadTest, ReplacesPlaceholdersInPathsAndDriverConfig) {
  const std::string text = with(
      R"("driver": "local")",
      R"("driver": "local", "config": {"root": "${state_dir}/x", "list": ["${config_dir}", 1.50]})");
  LoadOptions options = as_root();
  options.state_dir = "/tmp/state";

  const Reading reading = read_text(text, "/etc/hostler", options);

  ASSERT_THAT(reading.problems, SizeIs(0));
  EXPECT_EQ(reading.config.sets[0].config_json,
            R"({"root":"/tmp/state/x","list":["/etc/hostler",1.50]})");
}

TEST(LoadTest, TakesRelativePathsFromTheFilesFolder) {
  std::string text = kSmallest;
  text.insert(1, R"("state_dir": "../state", "driver_path": ["drivers", "/abs"],)");

  const Reading reading = read_text(text, "/etc/hostler", as_root());

  EXPECT_EQ(reading.config.state_dir, "/etc/state");
  EXPECT_THAT(reading.config.driver_path, ElementsAre("/etc/hostler/drivers", "/abs"));
}

TEST(LoadTest, WantsTlsBeyondLoopback) {
  const auto tcp = [](const std::string& members) {
    std::string text = kSmallest;
    return text.insert(1,
                       R"("access": {"tcp": {"port": 80, "tokens_file": "t", )" + members + "}},");
  };
  LoadOptions options = as_root();
  options.read_files = false;
  const auto problems = [&](const std::string& members) {
    const Reading reading = read_text(tcp(members), "/", options);
    return reading.problems.empty() ? "good" : reading.problems[0].message;
  };

  EXPECT_EQ(problems(R"("address": "127.0.0.1")"), "good");
  EXPECT_EQ(problems(R"("address": "::1")"), "good");
  EXPECT_THAT(problems(R"("address": "0.0.0.0")"),
              HasSubstr("not a loopback address, so it needs tls"));
  EXPECT_THAT(problems(R"("address": "localhost")"), HasSubstr("numeric address"));
  EXPECT_EQ(read_text(tcp(R"("address": "localhost")"), "/", options).problems.size(), 1U);
  EXPECT_EQ(problems(R"("address": "::", "tls_certificate_file": "c", "tls_key_file": "k")"),
            "good");
  EXPECT_THAT(problems(R"("tls_key_file": "k")"), HasSubstr("need each other"));
}

TEST(LoadTest, RefusesTagsThatAreHostlersOwn) {
  EXPECT_THAT(
      problems_of(with(R"("driver": "local")",
                       R"("driver": "local", "tags": {"hostler-set": "x", "a b": "c"})")),
      ElementsAre(HasSubstr("sets[0].tags.hostler-set: names of tags that begin with hostler-"),
                  HasSubstr("sets[0].tags[\"a b\"]: the name of a tag")));
}

TEST(LoadTest, SurvivesMalformedOversizedAndDeepFiles) {
  EXPECT_THAT(problems_of("{\"types\": [}"), ElementsAre(HasSubstr("types: not JSON: ")));
  EXPECT_THAT(problems_of(""), ElementsAre(HasSubstr("empty")));
  EXPECT_THAT(problems_of(std::string(200'000, '[')), ElementsAre(HasSubstr("nested too deeply")));
  EXPECT_THAT(problems_of("{\"sets\": [{\"config\": " + std::string(200'000, '[')),
              ElementsAre(HasSubstr("sets[0]")));
  EXPECT_THAT(problems_of(std::string((4U << 20U) + 1, ' ')), ElementsAre(HasSubstr("at most")));
  EXPECT_THAT(problems_of("[]"), ElementsAre(HasSubstr("found an array of 0, allowed: an object")));
}

TEST(LoadTest, ErrorNamesFileAndCountsTheRest) {
  const test::TempFolder folder;
  const std::string file = folder.put("c.json", R"({"types": [], "sets": []})");

  const auto config = load(file, as_root());

  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().path, "pools");
  EXPECT_THAT(config.error().message, HasSubstr("config " + file + ": pools: missing"));
  EXPECT_THAT(load("/nowhere/c.json").error().message, HasSubstr("open /nowhere/c.json"));
}

TEST(CheckTest, ListsProblemsAndWarningsAndSumsUp) {
  const test::TempFolder folder;
  const std::string good =
      folder.put("good.json", with(R"("pools": [{)", R"("pools": [{"max": 0, )"));
  const std::string bad = folder.put("bad.json", R"({"types": 1, "sets": [], "pools": []})");

  const CheckReport good_report = check(good, as_root());
  const CheckReport bad_report = check(bad, as_root());

  EXPECT_TRUE(good_report.good());
  EXPECT_EQ(good_report.text(), "warning: pools: \"p\" has max 0, so it never gets an instance\n" +
                                    good + ": good: 1 set, 1 type, 1 pool\n");
  EXPECT_FALSE(bad_report.good());
  EXPECT_THAT(bad_report.text(), HasSubstr("error: types: found 1, allowed: an array"));
  EXPECT_THAT(bad_report.text(), HasSubstr(bad + ": 1 error\n"));
}

}  // namespace
}  // namespace hostler::config

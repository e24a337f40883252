#include "core/config/key_changes.h"

#include <gmock/gmock.h>

#include "core/config/load.h"

namespace hostler::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kBase = R"({
  "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 1}],
  "sets": [{"name": "s", "driver": "d", "config": {"token": "x"}}],
  "pools": [{"name": "p", "sets": ["s"], "types": ["t"], "max": 3},
            {"name": "q", "sets": ["s"], "types": ["t"]}]
})";

std::string with(std::string text, std::string_view what, std::string_view value) {
  return text.replace(text.find(what), what.size(), value);
}

Config config_of(const std::string& text) {
  LoadOptions options;
  options.surroundings = {.is_root = true};
  options.read_files = false;
  Reading read = read_text(text, "/etc/hostler", options);
  for (const Error& problem : read.problems) ADD_FAILURE() << problem.message;
  return read.config;
}

/// "pools[0].max (p): 3 -> 1", one for each change.
std::vector<std::string> changes(const std::string& fresh) {
  std::vector<std::string> out;
  for (const auto& one : key_changes(config_of(kBase), config_of(fresh)))
    out.push_back(one.path + " (" + one.name + "): " + one.from + " -> " + one.to +
                  (one.needs_restart ? " restart" : ""));
  return out;
}

TEST(KeyChangesTest, ChangeHasItsPathAndBothValues) {
  EXPECT_THAT(changes(kBase), IsEmpty());
  EXPECT_THAT(changes(with(kBase, "\"max\": 3", "\"max\": 1")),
              ElementsAre("pools[0].max (p): 3 -> 1"));
  EXPECT_THAT(changes(with(kBase, "\"max\": 3", "\"max\": 3, \"standby\": 1")),
              ElementsAre("pools[0].standby (p):  -> 1"));
  EXPECT_THAT(changes(with(kBase, "\"price\": 1", "\"price\": 2")),
              ElementsAre("types[0].price (t): 1 -> 2"));
}

TEST(KeyChangesTest, KeysOfOutsideSchedulersAreShownOneByOne) {
  const auto pushed = [](const std::string& members) {
    return with(kBase, "\"max\": 3", R"("readiness": "ssh", "pushed": {)" + members + "}");
  };
  std::vector<std::string> shown;
  for (const auto& one : key_changes(config_of(pushed(R"("max_age": "1m", "lifetime_max": "off")")),
                                     config_of(pushed(R"("max_age": "1m", "lifetime_max": "7d")"))))
    shown.push_back(one.path + ": " + one.from + " -> " + one.to +
                    (one.needs_restart ? " restart" : ""));
  EXPECT_THAT(shown, ElementsAre("pools[0].pushed.lifetime_max: \"off\" -> \"7d\""));
  EXPECT_THAT(changes(with(kBase, "\"price\": 1", "\"price\": 1, \"slots\": 4")),
              ElementsAre("types[0].slots (t):  -> 4"));
}

TEST(KeyChangesTest, ValueThatIsOnlyWrittenInAnotherWayIsNoChange) {
  EXPECT_THAT(changes(with(kBase, "\"max\": 3", "\"max\": 3, \"idle_timeout\": \"60s\"")),
              IsEmpty());
  EXPECT_THAT(changes(with(kBase, "\"1GiB\"", "\"1024MiB\"")), IsEmpty());
}

TEST(KeyChangesTest, NamedThingThatIsAddedOrRemovedIsOneChange) {
  const std::string type = R"({"name": "u", "vcpus": 1, "ram": "1GiB", "price": 1})";
  EXPECT_THAT(
      changes(with(kBase, "\"types\": [{", "\"types\": [" + type + ", {")),
      ElementsAre("types[0] (u):  -> {\"name\":\"u\",\"vcpus\":1,\"ram\":\"1GiB\",\"price\":1}"));
}

TEST(KeyChangesTest, RestartAndSecretsAreMarked) {
  EXPECT_THAT(changes(with(kBase, "\"driver\": \"d\"", "\"driver\": \"e\"")),
              ElementsAre("sets[0].driver (s): \"d\" -> \"e\" restart"));
  EXPECT_THAT(changes(with(kBase, "{\"token\": \"x\"}", "{\"token\": \"y\"}")),
              ElementsAre("sets[0].config.token (s): ... -> ..."));
}

TEST(KeyChangesTest, BoundThatIsAnExpressionShowsBothTexts) {
  const std::string text =
      with(kBase, "\"max\": 3", R"("max": "2 + 1", "ceilings": {"instances_max": 9})");
  EXPECT_THAT(changes(text), ElementsAre("pools[0].max (p): 3 -> \"2 + 1\"",
                                         "pools[0].ceilings (p):  -> {\"instances_max\":9}"));
}

TEST(KeyChangesTest, AddressesOfMetricsAreNotShownAsTheyMayHaveSecrets) {
  const auto metric = [](const std::string& key) {
    return with(kBase, "\"pools\"",
                R"("metrics": [{"name": "m", "source": {"http": {"url": "http://a/?key=)" + key +
                    R"("}}}], "pools")");
  };
  EXPECT_THAT(changes(metric("k")),
              ElementsAre(R"(metrics[0] (m):  -> {"name":"m","source":{"http":{"url":"..."}}})"));
  const auto all = key_changes(config_of(metric("k")), config_of(metric("l")));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].from + " -> " + all[0].to, "... -> ...");
  EXPECT_FALSE(all[0].needs_restart);
}

TEST(KeyChangesTest, FileWithOtherContentHasNoValues) {
  Config fresh = config_of(kBase);
  fresh.access.tokens.push_back({"ci", "read", "00"});
  const auto all = key_changes(config_of(kBase), fresh);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].path, "access.tcp.tokens_file");
  EXPECT_EQ(all[0].from + all[0].to, "");
}

}  // namespace
}  // namespace hostler::config

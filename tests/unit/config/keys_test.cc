#include <gmock/gmock.h>

#include <sstream>

#include "core/base/files.h"
#include "core/config/load.h"
#include "core/json/document.h"

/// The documents in config/ against the code.
namespace hostler::config {
namespace {

using testing::ElementsAre;

const std::filesystem::path kFolder = HOSTLER_CONFIG_DIR;

Reading read_sample(const std::string& name) {
  return read(kFolder / name, {.surroundings = {.is_root = true},
                               .state_dir = {},
                               .trusted_only = false,
                               .read_files = false});
}

/// First cells of the table's rows.
std::set<std::string> documented() {
  std::set<std::string> out;
  std::istringstream lines(read_file(kFolder / "README.md", 1 << 20).value());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.find("` |", 3);
    if (line.starts_with("| `") && end != std::string::npos) out.insert(line.substr(3, end - 3));
  }
  return out;
}

/// All keys that a part of the schema names, "pools[].name".
void add_keys(json::Value part, json::Value root, const std::string& path,
              std::set<std::string>& out) {
  if (part.has("$ref")) {
    const std::string name(part.at("$ref").text().substr(std::string_view("#/$defs/").size()));
    return add_keys(root.at("$defs").at(name), root, path, out);
  }
  for (const json::Value one : part.at("properties").children()) {
    const std::string key = path + (path.empty() ? "" : ".") + std::string(one.key());
    out.insert(key);
    add_keys(one, root, key, out);
  }
  if (part.has("items")) add_keys(part.at("items"), root, path + "[]", out);
}

/// Ceilings of sets and pools are described once, with the site's; their images with those of
/// types; limits of roles with those of principals.
bool is_described_elsewhere(const std::string& key) {
  const auto role = std::string("quotas.roles.").size();
  if (key.starts_with("quotas.roles.") && key.find('.', role) != key.npos) return true;
  if (key.starts_with("sets[].image.") || key.starts_with("pools[].image.")) return true;
  return key.starts_with("sets[].ceilings.") || key.starts_with("pools[].ceilings.");
}

TEST(KeysTest, SamplesLoadWithoutWarnings) {
  for (const char* name : {"hostler.json", "local.json"}) {
    const Reading reading = read_sample(name);
    std::vector<std::string> problems;
    for (const Error& error : reading.problems) problems.push_back(error.message);
    EXPECT_THAT(problems, ElementsAre()) << name;
    EXPECT_THAT(reading.warnings, ElementsAre()) << name;
  }
}

TEST(KeysTest, TableHasEveryKeyAndNoOther) {
  std::set<std::string> known;
  for (const std::string& key : read_sample("hostler.json").keys)
    if (!is_described_elsewhere(key)) known.insert(key);

  EXPECT_EQ(documented(), known);
}

TEST(KeysTest, SchemaHasEveryKeyAndNoOther) {
  const auto text = read_file(kFolder / "schema.json", 1 << 20);
  ASSERT_TRUE(text);
  const auto schema = json::Document::parse(*text);
  ASSERT_TRUE(schema) << schema.error().message;
  std::set<std::string> named;
  add_keys(schema->root(), schema->root(), "", named);

  EXPECT_EQ(named, read_sample("hostler.json").keys);
}

TEST(KeysTest, SampleShowsEveryKey) {
  const auto text = read_file(kFolder / "hostler.json", 1 << 20);
  ASSERT_TRUE(text);

  for (const std::string& key : read_sample("hostler.json").keys) {
    if (key.ends_with("isolation")) continue;  // says nothing any more
    EXPECT_NE(text->find("\"" + key.substr(key.rfind('.') + 1) + "\""), std::string::npos) << key;
  }
}

TEST(KeysTest, SampleIsAtItsDefaultsWhereItSaysSo) {
  const Config config = read_sample("hostler.json").config;
  Agent agent;
  agent.folder = config.agent.folder;

  EXPECT_EQ(config.agent, agent);
  EXPECT_EQ(config.ledger_keep, LedgerKeep{});
  EXPECT_EQ(config.log_level, Config{}.log_level);
  EXPECT_EQ(config.limits.jobs_per_submit_max, Limits{}.jobs_per_submit_max);
}

}  // namespace
}  // namespace hostler::config

// The pure rules: prices, room, what a look at a folder means; and the form of files.

#include <gtest/gtest.h>

#include <filesystem>

#include "condition.h"
#include "create.h"
#include "folder/fields.h"
#include "folder/files.h"
#include "host_key.h"
#include "prices.h"
#include "record.h"
#include "tests/temp_folder.h"
#include "tests/unit/driver_call/call.h"

namespace hostler::local {
namespace {

constexpr auto kOnDemand = HOSTLER_MARKET_ON_DEMAND;
constexpr auto kSpot = HOSTLER_MARKET_SPOT;

// Nobody else could log in.
TEST(LocalRequestTest, AnotherUserThanTheAccountOfTheDaemonIsRefused) {
  auto type = driver::sized<hostler_instance_type>();
  auto request = driver::sized<hostler_create_req>();
  request.type = &type;
  request.idempotency_key = HOSTLER_STR("key-1");
  Account account;
  account.name = "hostler";
  const auto status = [&] {
    driver::test::Call call;
    return call.run([&] { read_request(request, Config{}, account, "west", {}); });
  };

  EXPECT_EQ(status(), HOSTLER_OK);
  request.remote_user = HOSTLER_STR("hostler");
  EXPECT_EQ(status(), HOSTLER_OK);
  request.remote_user = HOSTLER_STR("root");
  EXPECT_EQ(status(), HOSTLER_E_UNSUPPORTED);
}

TEST(LocalPricesTest, TakesTheLastChangeThatHasBegunAndApplies) {
  const std::vector<PriceChange> changes = {{"", HOSTLER_MARKET_ANY, 10, 100},
                                            {"a", kSpot, 20, 50},
                                            {"", HOSTLER_MARKET_ANY, 30, 110},
                                            {"", HOSTLER_MARKET_ANY, 30, 120}};
  EXPECT_EQ(price_at(changes, "a", kSpot, 9), -1);
  EXPECT_EQ(price_at(changes, "a", kSpot, 10), 100);
  EXPECT_EQ(price_at(changes, "a", kSpot, 29), 50);
  EXPECT_EQ(price_at(changes, "b", kSpot, 29), 100);
  EXPECT_EQ(price_at(changes, "a", kOnDemand, 29), 100);
  EXPECT_EQ(price_at(changes, "a", kSpot, 30), 120) << "written later";
}

TEST(LocalPricesTest, HistoryBeginsWithThePriceInForceAndEndsNow) {
  const std::vector<PriceChange> changes = {
      {"", 0, 30, 3}, {"", 0, 10, 1}, {"", 0, 20, 2}, {"", 0, 90, 9}};

  const std::vector<Price> history = price_history(changes, "z", kSpot, 25, 50);

  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].start_unix_ns, 20);
  EXPECT_EQ(history[1].micros_per_hour, 3);
}

TEST(LocalConditionTest, KnowsADeadSupervisorFromOneThatWasNeverStarted) {
  Evidence evidence;
  EXPECT_EQ(assess(evidence).state, HOSTLER_STATE_PENDING);
  EXPECT_EQ(assess(evidence).remedy, Remedy::kStart);

  evidence.state.phase = Phase::kRunning;
  EXPECT_EQ(assess(evidence).state, HOSTLER_STATE_FAILED);
  EXPECT_EQ(assess(evidence).remedy, Remedy::kNone) << "a host that crashed does not come back";

  evidence.locked = true;
  EXPECT_EQ(assess(evidence).state, HOSTLER_STATE_RUNNING);
}

TEST(LocalConditionTest, RemovesOnlyWhenNothingRunsAnyMore) {
  Evidence evidence;
  evidence.order.wanted = Wanted::kDestroyed;
  evidence.state.phase = Phase::kRunning;

  evidence.locked = true;
  EXPECT_EQ(assess(evidence).remedy, Remedy::kNone);
  evidence.locked = false;
  evidence.machine_runs = true;
  EXPECT_EQ(assess(evidence).remedy, Remedy::kNone);
  evidence.machine_runs = false;
  EXPECT_EQ(assess(evidence).remedy, Remedy::kRemove);
  EXPECT_EQ(assess(evidence).state, HOSTLER_STATE_TERMINATING);
}

TEST(LocalConditionTest, ShowsPowerOrdersOnTheirWay) {
  Evidence evidence;
  evidence.order.wanted = Wanted::kStopped;
  evidence.state.phase = Phase::kRunning;
  evidence.locked = true;
  EXPECT_EQ(assess(evidence).state, HOSTLER_STATE_STOPPING);
  evidence.locked = false;
  EXPECT_EQ(assess(evidence).state, HOSTLER_STATE_STOPPED);

  evidence.order.wanted = Wanted::kRunning;
  evidence.state.phase = Phase::kStopped;
  EXPECT_EQ(assess(evidence).remedy, Remedy::kStart);
}

TEST(LocalFieldsTest, KeepsAnyTextAndNoticesAFileCutShort) {
  Fields fields;
  fields.set("plain", "two words");
  fields.set("odd", std::string("a\nb\\n\\"));
  fields.set("empty", std::string());
  fields.set("number", std::int64_t{-5});
  const std::string text = fields.text();

  EXPECT_EQ(Fields::parse(text).all(), fields.all());
  EXPECT_EQ(Fields::parse(text).number("number"), -5);
  for (std::size_t n = 0; n < text.size() - 1; ++n)
    EXPECT_THROW(Fields::parse(text.substr(0, n)), std::runtime_error) << n;
}

TEST(LocalRecordTest, ComesBackAsItWas) {
  Record record;
  record.id = id_of_key("key");
  record.idempotency_key = "key";
  record.address = "127.1.2.3";
  record.name = "line\nbreak";
  record.port = 2200;

  EXPECT_EQ(Record::parse(record.text()).text(), record.text());
  EXPECT_TRUE(is_id(record.id));
  for (const char* other :
       {"", "i-", "../../../../../etc", "i-00000000000000/.", "i-0123456789ABCDEF"})
    EXPECT_FALSE(is_id(other)) << other;
}

TEST(LocalZoneTest, TakesTheFirstZoneThatHasStock) {
  Config config;
  config.zones = {"a", "b"};
  config.instances_max = 10;
  config.types["t"].stock_in = {{"a", 1}};
  CreateSpec spec;
  spec.record.provider_type = "t";
  auto other = std::make_shared<Record>();
  other->provider_type = "t";
  other->zone = "a";

  EXPECT_EQ(find_zone(spec, config, {}), "a");
  EXPECT_EQ(find_zone(spec, config, {other}), "b");
  spec.zone = "a";
  EXPECT_THROW(find_zone(spec, config, {other}), driver::Error);
}

TEST(LocalHostKeyTest, ComparesAlgorithmAndBytes) {
  const std::uint8_t blob[] = {0, 1, 2, 250};
  EXPECT_TRUE(is_key("ssh-ed25519 AAEC+g==", "ssh-ed25519", blob, 4));
  EXPECT_FALSE(is_key("ssh-ed25519 AAEC+g==", "ssh-ed25519", blob, 3));
  EXPECT_FALSE(is_key("ssh-ed25519 AAEC+g==", "ecdsa", blob, 4));
  EXPECT_FALSE(is_key("", "", blob, 0));
}

TEST(LocalFilesTest, RemovesATreeOfAnyDepthAndModeAndNothingBesides) {
  namespace fs = std::filesystem;
  const test::TempFolder folder;
  const std::string base = folder.path(), top = base + "/top";
  const fs::path start = fs::current_path();
  fs::create_directories(base + "/kept");
  write_file(base + "/kept/file", "x");
  fs::create_directory(top);
  fs::create_directory_symlink(base + "/kept", top + "/link");
  fs::current_path(top);
  const std::string step(200, 'd');
  for (int depth = 0; depth < 100; ++depth) {  // longer than any path may be
    fs::create_directory(step);
    write_file("file", "x");
    fs::current_path(step);
  }
  fs::permissions(".", fs::perms::none);
  fs::current_path(start);

  remove_tree(top);

  EXPECT_FALSE(is_there(top));
  EXPECT_TRUE(is_there(base + "/kept/file"));
  remove_tree(top);  // nothing there is no error
}

// Bug: a removal that was killed left ".removing-0", and every later one failed on that name.
TEST(LocalFilesTest, CompletesARemovalThatWasCutShort) {
  namespace fs = std::filesystem;
  const test::TempFolder folder;
  const std::string top = folder / "top";
  for (int n = 0; n < 20; ++n) {
    fs::create_directories(top + "/.removing-" + std::to_string(n) + "/left");
    fs::create_directories(top + "/folder-" + std::to_string(n) + "/below/file");
  }

  remove_tree(top);

  EXPECT_FALSE(is_there(top));
}

}  // namespace
}  // namespace hostler::local

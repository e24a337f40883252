// Quota, stock, prices, the test dials, and what a wrong config says.

#include <algorithm>
#include <thread>

#include "folder/files.h"
#include "tests/integration/local/fixture.h"

namespace hostler::local::test {
namespace {

using LimitsTest = LocalTest;

TEST_F(LimitsTest, RefusesMoreThanTheQuotaUntilOneIsDestroyed) {
  open(R"("instances_max": 2)");
  const std::string first = set->create(wish("key-1")).instances.front().id;
  ASSERT_EQ(set->create(wish("key-2")).status, HOSTLER_OK);

  const Outcome refused = set->create(wish("key-3"));
  EXPECT_EQ(refused.status, HOSTLER_E_QUOTA);
  EXPECT_EQ(refused.scope, HOSTLER_SCOPE_ACCOUNT);
  EXPECT_EQ(refused.quota_limit, 2);
  EXPECT_EQ(refused.quota_used, 2);
  EXPECT_EQ(refused.flags, 0U);
  EXPECT_EQ(set->create(wish("key-2")).status, HOSTLER_OK) << "a retry needs no room";

  set->destroy(first);
  ASSERT_TRUE(becomes(first, HOSTLER_STATE_GONE));
  EXPECT_EQ(set->create(wish("key-3")).status, HOSTLER_OK);
}

TEST_F(LimitsTest, KeepsTheQuotaWithManyCreatesAtOnce) {
  open(R"("instances_max": 3)");
  std::vector<Outcome> outcomes(12);
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    callers.emplace_back([&, i] { outcomes[i] = set->create(wish("key-" + std::to_string(i))); });
  for (std::thread& caller : callers) caller.join();

  EXPECT_EQ(set->list().instances.size(), 3U);
  EXPECT_EQ(std::count_if(outcomes.begin(), outcomes.end(),
                          [](const Outcome& o) { return o.status == HOSTLER_E_QUOTA; }),
            9);
}

TEST_F(LimitsTest, RefusesWhatItCannotDoAndWhatItDoesNotKnow) {
  open();
  Create wanted = wish("key-1");
  wanted.tenancy = HOSTLER_TENANCY_DEDICATED;
  EXPECT_EQ(set->create(wanted).status, HOSTLER_E_UNSUPPORTED);
  wanted = wish("key-1");
  wanted.market = HOSTLER_MARKET_SPOT + 1;
  EXPECT_EQ(set->create(wanted).status, HOSTLER_E_UNSUPPORTED);
  EXPECT_TRUE(set->list().instances.empty()) << "nothing was made in its place";
}

TEST_F(LimitsTest, RunsOutOfStockByTypeAndZone) {
  open(R"("zones": ["z1", "z2"],
          "types": {"small": {"stock": {"z1": 1}}, "large": {"stock": 1}, "huge": {"stock": 0}})");
  Create in_z1 = wish("key-1");
  in_z1.zone = "z1";
  ASSERT_EQ(set->create(in_z1).status, HOSTLER_OK);

  in_z1.key = "key-2";
  const Outcome no_zone = set->create(in_z1);
  EXPECT_EQ(no_zone.status, HOSTLER_E_CAPACITY);
  EXPECT_EQ(no_zone.scope, HOSTLER_SCOPE_TYPE | HOSTLER_SCOPE_ZONE);
  EXPECT_EQ(no_zone.texts.at(HOSTLER_TEXT_SCOPE_ZONE), "z1");
  EXPECT_EQ(set->create(wish("key-3")).instances.front().zone, "z2") << "one that has some";

  Create large = wish("key-4");
  large.type = "large";
  ASSERT_EQ(set->create(large).status, HOSTLER_OK);
  large.key = "key-5";
  EXPECT_EQ(set->create(large).scope, HOSTLER_SCOPE_TYPE);
  Create unknown = wish("key-6");
  unknown.type = "gigantic";
  EXPECT_EQ(set->create(unknown).status, HOSTLER_E_INVALID);
  Create nowhere = wish("key-7");
  nowhere.zone = "z9";
  EXPECT_EQ(set->create(nowhere).status, HOSTLER_E_INVALID);
}

TEST_F(LimitsTest, TellsPricesAndTheirHistory) {
  open(R"("zones": ["z1", "z2"], "types": {"small": {"prices": [
          {"micros_per_hour": 10000, "from": "2020-01-01T00:00:00Z"},
          {"micros_per_hour": 20000, "from": "2021-01-01T00:00:00Z", "zone": "z2"},
          {"micros_per_hour": 3000, "from": "2022-01-01T00:00:00Z", "market": "spot"}]}})");
  Create spot = wish("key-1");
  spot.zone = "z1";
  spot.market = HOSTLER_MARKET_SPOT;
  const std::string id = set->create(spot).instances.front().id;

  EXPECT_EQ(set->look(id).price, 3000);
  const Outcome all = set->prices("small", HOSTLER_MARKET_ANY, 0);
  EXPECT_EQ(all.prices.size(), 1U + 2U + 2U + 3U);
  const Outcome now = set->prices("small", HOSTLER_MARKET_ON_DEMAND, 1'700'000'000'000'000'000);
  ASSERT_EQ(now.prices.size(), 2U) << "in each zone the one in force at that time";
  EXPECT_EQ(now.prices[1].price_micros_per_hour, 20000);
}

TEST_F(LimitsTest, DialsErrorsByClassForTheFirstCalls) {
  open(R"("dials": {"create_errors": [
            {"class": "RATE_LIMIT", "count": 2, "retry_after": "3s", "scope": ["OPERATION"]},
            {"class": "CAPACITY", "type": "large", "scope": ["TYPE", "ZONE"]}],
          "list_errors": [{"class": "AUTH", "message": "no"}]})");

  for (int i = 0; i < 2; ++i) {
    const Outcome limited = set->create(wish("key-1"));
    EXPECT_EQ(limited.status, HOSTLER_E_RATE_LIMIT);
    EXPECT_EQ(limited.retry_after_ms, 3000);
    EXPECT_EQ(limited.scope, HOSTLER_SCOPE_OPERATION);
  }
  EXPECT_EQ(set->create(wish("key-1")).status, HOSTLER_OK);
  Create large = wish("key-2");
  large.type = "large";
  EXPECT_EQ(set->create(large).status, HOSTLER_E_CAPACITY);
  EXPECT_EQ(set->create(large).status, HOSTLER_OK);
  EXPECT_EQ(set->list().message, "no");
  EXPECT_EQ(set->list().instances.size(), 2U);
}

TEST_F(LimitsTest, DialsACreateWhoseAnswerIsLost) {
  open(R"("dials": {"create_reply_lost": 1})");

  const Outcome lost = set->create(wish("key-1"));
  EXPECT_EQ(lost.status, HOSTLER_E_TRANSIENT);
  EXPECT_EQ(lost.flags, HOSTLER_EF_OUTCOME_UNKNOWN);

  EXPECT_EQ(set->create(wish("key-1")).status, HOSTLER_OK);
  EXPECT_EQ(set->list().instances.size(), 1U);
}

TEST_F(LimitsTest, GivesUpASlowListAtItsDeadline) {
  open(R"("dials": {"list_delay": "2m"})");

  const Outcome late = set->list({}, {}, 50);

  EXPECT_EQ(late.status, HOSTLER_E_TIMEOUT) << late.message;
}

TEST_F(LimitsTest, DialsAHostKeyThatWasNeverItsOwn) {
  open(R"("dials": {"host_key_changes": "before_sshd"})");
  const Seen instance = boot("key-1");

  EXPECT_EQ(set->verify(instance.id, host_key(instance)).status, HOSTLER_E_KEY_MISMATCH);
}

TEST_F(LimitsTest, DialsAHostKeyThatChangesOnceSshdAnswers) {
  open(R"("dials": {"host_key_changes": "after_sshd", "host_key_changes_after": "1ms"})");
  const Seen instance = boot("key-1");

  EXPECT_TRUE(eventually([&] {
    const std::string key = host_key(instance);
    return !key.empty() && set->verify(instance.id, key).status == HOSTLER_E_KEY_MISMATCH;
  }));
  EXPECT_EQ(set->look(instance.id).state, HOSTLER_STATE_RUNNING);
}

TEST_F(LimitsTest, DialsASshdThatNeverStarts) {
  open(R"("dials": {"sshd_starts": "never"})");
  const std::string id = set->create(wish("key-1")).instances.front().id;

  EXPECT_TRUE(becomes(id, HOSTLER_STATE_RUNNING));
  EXPECT_FALSE(answers(set->look(id)));
  EXPECT_FALSE(is_there(scratch.root() + "/instances/" + id + "/sshd.log"));
}

TEST_F(LimitsTest, FailsAnInstanceWhoseSshdWillNotStayUp) {
  open(R"("sshd": "/bin/false")");
  const std::string id = set->create(wish("key-1")).instances.front().id;

  EXPECT_TRUE(becomes(id, HOSTLER_STATE_FAILED));
  EXPECT_EQ(set->look(id).reason.find("sshd would not stay up"), 0U);
}

TEST_F(LimitsTest, IsPendingDuringItsBootDelayAndCanBeDestroyedInIt) {
  open(R"("boot_delay": "1h")");
  const std::string id = set->create(wish("key-1")).instances.front().id;
  EXPECT_EQ(set->look(id).state, HOSTLER_STATE_PENDING);

  set->destroy(id);

  EXPECT_TRUE(becomes(id, HOSTLER_STATE_GONE));
}

TEST_F(LimitsTest, NamesTheFieldThatIsWrong) {
  const auto said = [&](const std::string& more) {
    const Outcome opened = DriverHost::try_open(config(more));
    EXPECT_EQ(opened.status, HOSTLER_E_INVALID);
    return opened.message;
  };
  EXPECT_EQ(said(R"("prot": 1)").find("config.prot is unknown; needed: one of boot_delay, "), 0U);
  EXPECT_EQ(said(R"("sshd": "/nowhere/sshd")").find("config.sshd: there is no program"), 0U);
  EXPECT_EQ(said(R"("supervisor": "/nowhere")").find("config.supervisor:"), 0U);
  EXPECT_EQ(DriverHost::try_open("{}").message,
            "config.root is missing; it names the folder for the files of all instances");
  EXPECT_EQ(DriverHost::try_open(R"({"root": "/etc/passwd/x"})").message.find("config.root: "), 0U);
}

}  // namespace
}  // namespace hostler::local::test

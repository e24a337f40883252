// Rows with values that no version of the program writes: after a failure of memory or disk, or by
// an admin's mistake.

#include <gmock/gmock.h>

#include "tests/unit/store/damaged_fixture.h"

namespace hostler::store {
namespace {

using model::InstanceState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DamagedTest : public DamagedFixture {};
HOSTLER_ON_BOTH_ENGINES(DamagedTest);

TEST_P(DamagedTest, NothingIsDamagedInWhatTheStoreWrote) {
  const auto restored = reopened();

  EXPECT_THAT(named(restored), IsEmpty());
  EXPECT_THAT(work(restored), ElementsAre("j-5", "j-6"));
}

TEST_P(DamagedTest, WorkWithABadValueIsNamedAndSetAside) {
  for (const auto& [value, problem] : std::vector<std::pair<std::string, std::string>>{
           {"state = 99", "state is 99"},
           {"state = -1", "state is -1"},
           {"state = 0, kind = 3", "kind is 3"},
           {"kind = 0, reason = 15", "reason is 15"},
           {"reason = 0, attempt = -1", "attempt is -1"},
           {"attempt = 0, starts = 4294967296", "starts is 4294967296"},
           {"starts = 0, cancel_requested = 2", "cancel_requested is 2"}}) {
    const auto restored = restored_after("UPDATE work SET " + value + " WHERE id = 6");

    EXPECT_THAT(work(restored), ElementsAre("j-5")) << value;
    EXPECT_THAT(named(restored), ElementsAre("work j-6: " + problem));
    EXPECT_EQ(restored.last_work, 6U);
  }
}

// Bug: the next attempt of it had the number 0, which ended the daemon at each start.
TEST_P(DamagedTest, WorkWithoutANumberForAnotherAttemptIsSetAside) {
  EXPECT_THAT(named(restored_after("UPDATE work SET attempt = 4294967295 WHERE id = 6")),
              ElementsAre("work j-6: it has no number for an attempt left"));
}

// Bug: a cancel took the other one out of the queue.
TEST_P(DamagedTest, OfWorkWithEqualArrivalsOneIsSetAside) {
  const auto restored = restored_after("UPDATE work_specs SET arrival = 5 WHERE id = 6");
  EXPECT_THAT(work(restored), testing::SizeIs(1));
  EXPECT_THAT(named(restored), ElementsAre(HasSubstr("arrival is 5, as of other work")));
}

// Bug: the number after it was negative, which ended the daemon at the next submit.
TEST_P(DamagedTest, ANumberThatNobodyCanHaveGivenOutIsRefusedAtStart) {
  damage("UPDATE work SET id = 9223372036854775807 WHERE id = 6");
  open();
  const auto restored = store_->load();
  ASSERT_FALSE(restored);
  EXPECT_THAT(restored.error().message,
              HasSubstr("last id of table work is '9223372036854775807'"));
}

// Bug: new work got arrivals that waiting work had already.
TEST_P(DamagedTest, ADamagedArrivalDoesNotSetTheCounterBack) {
  EXPECT_EQ(restored_after("UPDATE work_specs SET arrival = -7 WHERE id = 6").last_arrival, 6U);
}

TEST_P(DamagedTest, WorkWithABadSpecIsNamedAndSetAside) {
  EXPECT_THAT(named(restored_after("UPDATE work_specs SET market = 2 WHERE id = 6")),
              ElementsAre("work_specs j-6: market is 2"));
  EXPECT_THAT(named(restored_after("UPDATE work_specs SET market = -1, ram = -5 WHERE id = 6")),
              ElementsAre("work_specs j-6: ram is -5"));
  const auto restored = restored_after("DELETE FROM work_specs WHERE id = 6");
  EXPECT_THAT(named(restored), ElementsAre("work_specs j-6: there is no such row"));
  EXPECT_THAT(work(restored), ElementsAre("j-5"));
}

TEST_P(DamagedTest, AClientKeyOfDamagedWorkIsKnownStill) {
  const auto restored = restored_after("UPDATE work SET state = 99 WHERE id = 6");

  ASSERT_EQ(restored.client_keys.size(), 1U);
  EXPECT_EQ(restored.client_keys[0].work, model::WorkId{6});
}

TEST_P(DamagedTest, ADamagedAttemptSetsItsWorkAside) {
  for (const char* value : {"state = 3", "state = 0, number = 0", "number = 1, has_end = 7"}) {
    const auto restored =
        restored_after("UPDATE attempts SET " + std::string(value) + " WHERE work = 5");

    EXPECT_THAT(work(restored), ElementsAre("j-6")) << value;
    EXPECT_THAT(restored.attempts, IsEmpty());
    ASSERT_EQ(restored.damaged.size(), 2U) << value;
    EXPECT_EQ(restored.damaged[0].table, "attempts");
    EXPECT_EQ(named(restored)[1], "work j-5: an attempt of it is damaged");
  }
}

TEST_P(DamagedTest, AnAttemptOfUnknownWorkIsNamedAndSetAside) {
  const auto restored = restored_after("DELETE FROM work WHERE id = 5");

  EXPECT_THAT(named(restored), ElementsAre("attempts j-5.1: there is no work j-5"));
  EXPECT_THAT(restored.attempts, IsEmpty());
  EXPECT_THAT(
      named(restored_after("UPDATE attempts SET work = 6, kind = 1 WHERE work = 5")),
      ElementsAre("attempts l-6.1: there is no work l-6", "work j-6: an attempt of it is damaged"));
}

TEST_P(DamagedTest, ADamagedInstanceTellsWhatCountsForCeilingsAndSetsItsWorkAside) {
  for (const auto& [value, problem] : std::vector<std::pair<std::string, std::string>>{
           {"state = 10", "state is 10"},
           {"state = 4, ssh_port = 65536", "ssh_port is 65536"},
           {"ssh_port = 22, verified_by = 3", "verified_by is 3"},
           {"verified_by = -1, vcpu_thousandths = -2", "vcpu_thousandths is -2"}}) {
    const auto restored = restored_after("UPDATE instances SET " + value + " WHERE id = 7");

    EXPECT_THAT(named(restored),
                ElementsAre("instances h-7: " + problem, "work j-5: its instance h-7 is damaged"));
    ASSERT_TRUE(restored.damaged[0].instance);
    const auto& readable = *restored.damaged[0].instance;
    EXPECT_EQ(readable.id, model::InstanceId{7});
    EXPECT_EQ(readable.set, "local");
    EXPECT_EQ(readable.pool, "default");
    EXPECT_EQ(readable.provider_id, "i-7");
    EXPECT_EQ(readable.price_per_hour, model::Micros{250});
    EXPECT_EQ(readable.total.vcpus, problem == "vcpu_thousandths is -2" ? 0 : 4);
    ASSERT_EQ(restored.instances.size(), 1U);
    EXPECT_EQ(restored.instances[0].record.id, model::InstanceId{8});
    EXPECT_THAT(work(restored), ElementsAre("j-6"));
  }
}

TEST_P(DamagedTest, AnInstanceWithADamagedCreateIsSetAside) {
  for (const auto& [json, problem] : std::vector<std::pair<std::string, std::string>>{
           {"no JSON", "the create is not a JSON object"},
           {"[]", "the create is not a JSON object"},
           {"{}", "the create has no idempotency_key"},
           {R"({"idempotency_key":7})", "the create's idempotency_key has an invalid value"},
           {R"({"idempotency_key":"k","type":{"market":2}})",
            "the create's market has an invalid value"},
           {R"({"idempotency_key":"k","type":{"gpus":{"kind":"a100"}}})",
            "the create's gpus has an invalid value"}}) {
    damage("DELETE FROM creates");
    const auto restored = restored_after("INSERT INTO creates VALUES (8, '" + json + "')");

    EXPECT_THAT(named(restored), ElementsAre("creates h-8: " + problem));
    ASSERT_TRUE(restored.damaged[0].instance);
    EXPECT_EQ(restored.damaged[0].instance->id, model::InstanceId{8});
    EXPECT_EQ(restored.instances.size(), 1U);
  }
}

TEST_P(DamagedTest, DamagedGatesAndPricesAreNamedAndLeftOut) {
  model::GateChanged gate;
  gate.record.key = "a gate";
  must_commit({gate, model::PriceRow{"local", "small", "z", {}, {{10}, {20}}}});

  const auto restored =
      restored_after("UPDATE gates SET cls = 99; UPDATE prices SET price_per_hour = -1");

  EXPECT_THAT(named(restored), ElementsAre("gates a gate: cls is 99",
                                           "prices local small z 10: price_per_hour is -1"));
  EXPECT_THAT(restored.gates, IsEmpty());
  EXPECT_THAT(restored.prices, IsEmpty());
}

TEST_P(DamagedTest, DamagedAccountsAreNamedAndLeftOut) {
  const std::string longest(model::kAccountBytesMax, 'a');
  must_commit({model::SetAccount{"empty", "a1", "eu"}, model::SetAccount{"good", longest, "eu"},
               model::SetAccount{"long", "a1", "eu"}, model::SetAccount{"named", "a1", "eu"}});

  const auto restored = restored_after(
      "UPDATE sets SET account = '', region = '' WHERE name = 'empty'; "
      "UPDATE sets SET region = '" +
      longest +
      "a' WHERE name = 'long'; "
      "UPDATE sets SET name = 'Two words' WHERE name = 'named'");

  EXPECT_THAT(named(restored),
              testing::UnorderedElementsAre("sets empty: account and region are empty",
                                            "sets long: region is longer than 255 bytes",
                                            "sets Two words: name is no name of a set"));
  EXPECT_THAT(restored.accounts, ElementsAre(model::SetAccount{"good", longest, "eu"}));
  must_commit({model::SetAccount{"long", "a2", "eu"}});
  EXPECT_EQ(reopened().accounts.size(), 2U) << "an accepted account replaces the row";
}

TEST_P(DamagedTest, DamagedUsesAreNamedAndLeftOut) {
  must_commit({model::PrincipalUse{"user al", {1}, {1}}, model::PrincipalUse{"user bob", {2}, {2}},
               model::PrincipalUse{"user cy", {3}, {3}}});

  const auto restored =
      restored_after("UPDATE uses SET micros = -1 WHERE principal IN ('user al', 'user bob')");

  EXPECT_THAT(named(restored),
              ElementsAre("uses user al: micros is -1", "uses user bob: micros is -1"));
  EXPECT_THAT(restored.uses, ElementsAre(model::PrincipalUse{"user cy", {3}, {3}}));
  must_commit({model::PrincipalUse{"user al", {4}, {4}}});
  EXPECT_EQ(reopened().uses.size(), 2U) << "the next tick replaces the row";
}

TEST_P(DamagedTest, DamagedPushersAreNamedAndTheNextPushReplacesThem) {
  std::string many = "[\"0\"";
  for (int i = 0; i < 16; ++i) many += ",\"s\"";
  must_commit({model::PusherRecord{"a", "user al", "s-1", {"s-0"}}});
  for (const auto& bad : {std::string("s-0"), std::string("{}"), std::string("[7]"), many + "]",
                          "[\"" + std::string(model::kPushedNameMax + 1, 'x') + "\"]"}) {
    const auto restored = restored_after("UPDATE pushers SET superseded = '" + bad + "'");

    EXPECT_THAT(named(restored), ElementsAre("pushers a: superseded is no list of sessions"));
    EXPECT_THAT(restored.pushers, IsEmpty()) << bad;
  }
  must_commit({model::PusherRecord{"a", "user al", "s-2", {}}});
  EXPECT_EQ(reopened().pushers.size(), 1U);
}

TEST_P(DamagedTest, AHostWithABadReportOfItsAgentIsSetAside) {
  EXPECT_THAT(named(restored_after("UPDATE instances SET agent = 4 WHERE id = 8")),
              ElementsAre("instances h-8: agent is 4"));
}

TEST_P(DamagedTest, DamagedRowsStayAsTheyAre) {
  damage("UPDATE work SET state = 99, kind = 7 WHERE id = 6");
  open();
  must_commit({record(1, "j-6", "ended", {1})});
  const auto done = std::make_shared<std::promise<void>>();
  store_->tidy({}, {1'760'000'000'000'000},
               [done](const Tidied&, const Result<void>&) { done->set_value(); });
  done->get_future().get();

  EXPECT_EQ(number("SELECT state FROM work WHERE id = 6"), 99);
  EXPECT_EQ(number("SELECT kind FROM work WHERE id = 6"), 7);
}

// ---- reads --------------------------------------------------------------------------------------

TEST_P(DamagedTest, ReadsOfADamagedRowNameIt) {
  damage(
      "UPDATE work SET state = 99 WHERE id = 6; UPDATE work_specs SET market = 5 WHERE id = 5; "
      "UPDATE attempts SET reason = -3; UPDATE instances SET health = 3 WHERE id = 7");
  open();
  const auto& reads = store_->reads();

  EXPECT_EQ(reads.job({6}).error().code, Errc::kInternal);
  EXPECT_THAT(reads.job({6}).error().message,
              HasSubstr("row j-6 of table work is damaged (state is 99)"));
  EXPECT_THAT(reads.job({5}, false).error().message,
              HasSubstr("row j-5 of table work_specs is damaged (market is 5)"));
  EXPECT_THAT(reads.attempt({{5}, 1}).error().message,
              HasSubstr("row j-5.1 of table attempts is damaged (reason is -3)"));
  EXPECT_THAT(reads.instance({7}).error().message,
              HasSubstr("row h-7 of table instances is damaged (health is 3)"));
  EXPECT_THAT(store_->read_output({{5}, 1}, kStdoutStream, 0, 100).error().message,
              HasSubstr("row j-5.1 of table attempts is damaged"));
}

TEST_P(DamagedTest, ListsLeaveDamagedRowsOutAndGoOnBehindThem) {
  std::vector<model::Change> changes;
  for (std::uint64_t id = 10; id <= 20; ++id) {
    changes.emplace_back(new_job(id));
    changes.emplace_back(instance_in(id, InstanceState::kIdle));
  }
  must_commit(std::move(changes));
  damage(
      "UPDATE work SET reason = 99 WHERE id BETWEEN 11 AND 18; "
      "UPDATE instances SET market = 2 WHERE id BETWEEN 7 AND 18");
  open();
  const auto& reads = store_->reads();
  const auto jobs = [&](const JobFilter& filter) {
    const auto page = reads.jobs(filter);
    EXPECT_TRUE(page) << page.error().message;
    std::vector<std::uint64_t> ids;
    for (const auto& job : page->items) ids.push_back(job.record.id.value);
    ids.push_back(page->more ? 1 : 0);
    return ids;
  };

  EXPECT_THAT(jobs({}), ElementsAre(5, 6, 10, 19, 20, 0));
  EXPECT_THAT(jobs({.after = {6}, .limit = 2}), ElementsAre(10, 19, 1));
  EXPECT_THAT(jobs({.after = {10}, .limit = 2}), ElementsAre(19, 20, 0));
  EXPECT_THAT(jobs({.after = {19}, .newest_first = true, .limit = 1}), ElementsAre(10, 1));
  const auto instances = reads.instances({.limit = 1});
  ASSERT_TRUE(instances) << instances.error().message;
  ASSERT_EQ(instances->items.size(), 1U);
  EXPECT_EQ(instances->items[0].id, model::InstanceId{19});
  EXPECT_TRUE(instances->more);
  EXPECT_TRUE(reads.counts());
  EXPECT_TRUE(reads.uses({0}, {1000}, [](const Use&) {}));
}

TEST_P(DamagedTest, TheLedgerGoesOnBehindDamagedRecordsInBothDirections) {
  std::vector<model::Change> records;
  for (std::uint64_t rev = 10; rev <= 20; ++rev)
    records.emplace_back(record(rev, "j-5", "started"));
  must_commit(std::move(records));
  damage("UPDATE ledger SET time_us = -9223372036854775807 - 1 WHERE rev BETWEEN 12 AND 18");
  open();
  const auto& reads = store_->reads();
  const auto revisions = [](const Result<Page<model::LedgerRecord>>& page) {
    EXPECT_TRUE(page) << page.error().message;
    std::vector<std::uint64_t> out;
    for (const auto& entry : page->items) out.push_back(entry.rev);
    out.push_back(page->more ? 1 : 0);
    return out;
  };

  EXPECT_THAT(revisions(reads.ledger(11, 1)), ElementsAre(19, 1));
  EXPECT_THAT(revisions(reads.ledger(10, 2)), ElementsAre(11, 19, 1));
  EXPECT_THAT(revisions(reads.ledger_of("j-5", 11, 2)), ElementsAre(19, 20, 0));
  EXPECT_THAT(revisions(reads.ledger_of("j-5", 19, 1, true)), ElementsAre(11, 1));
  EXPECT_THAT(revisions(reads.ledger_of("j-5", 0, 3, true)), ElementsAre(20, 19, 11, 1));
}

// ---- what the store knows of itself
// -----------------------------------------------------------------

TEST_P(DamagedTest, AStartSaysWhichValueOfTheStoreIsNoNumberOrNoName) {
  for (const auto& [key, value, words] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"epoch", "many", "the store's epoch is 'many', which is not a number"},
           {"owner", "Not a name", "the store's owner is 'Not a name', which is not a valid name"},
           {"schema_version", "new", "the schema version is not a number"}}) {
    const auto good = meta(key);
    damage("UPDATE meta SET value = '" + value + "' WHERE key = '" + key + "'");

    const auto opened = try_open();

    ASSERT_FALSE(opened) << key;
    EXPECT_THAT(opened.error().message, HasSubstr(words));
    damage("UPDATE meta SET value = '" + good + "' WHERE key = '" + key + "'");
  }
  damage("INSERT INTO meta VALUES ('last_work', '-4')");
  open();
  const auto restored = store_->load();
  ASSERT_FALSE(restored);
  EXPECT_THAT(restored.error().message, HasSubstr("last_work is '-4', which is not a number"));
}

/// A server refuses text in a column of numbers.
class DamagedFileTest : public DamagedTest {};
INSTANTIATE_TEST_SUITE_P(Sqlite, DamagedFileTest, testing::Values(Engine::kSqlite));

TEST_P(DamagedFileTest, TextInPlaceOfANumberIsDamage) {
  EXPECT_THAT(named(restored_after("UPDATE work SET state = 'abc' WHERE id = 6")),
              ElementsAre("work j-6: state is not a number"));
  EXPECT_THAT(named(restored_after("UPDATE work SET state = 0, attempt = '1x' WHERE id = 6")),
              ElementsAre("work j-6: attempt is not a number"));
}

}  // namespace
}  // namespace hostler::store

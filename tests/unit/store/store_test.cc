#include "core/store/store.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "core/store/connect.h"
#include "tests/unit/store/fixture.h"

namespace hostler::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StoreTest : public StoreFixture {};

HOSTLER_ON_BOTH_ENGINES(StoreTest);

TEST_P(StoreTest, MakesAPrivateFolderAndAnOwnerThatStays) {
  const auto first = store_->load();
  ASSERT_TRUE(first);
  const auto second = reopened();

  EXPECT_TRUE(is_name(first->owner));
  EXPECT_EQ(second.owner, first->owner);
  EXPECT_EQ(first->epoch, 1U);
  EXPECT_EQ(second.epoch, 2U);
  const auto files = on_postgres()
                         ? std::vector<std::string>{"lock", "postgres"}
                         : std::vector<std::string>{"lock", "hostler.db", "hostler.db-wal"};
  for (const auto& file : files) {
    struct stat info {};
    ASSERT_EQ(::stat((state() / file).c_str(), &info), 0) << file;
    EXPECT_EQ(info.st_mode & 0777U, 0600U) << file;
  }
  struct stat info {};
  ASSERT_EQ(::stat(state().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST_P(StoreTest, RefusesASecondOpenerAndNamesTheFirst) {
  const auto second = try_open();

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kConflict);
  EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(::getpid())));
}

TEST_P(StoreTest, RefusesANewerSchemaAndLeavesItAlone) {
  store_.reset();
  {
    auto db = connect(place(), Mode::kWrite);
    ASSERT_TRUE(db);
    ASSERT_TRUE((*db)->execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'"));
  }

  const auto opened = try_open();

  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("schema 99"));
  auto db = connect(place(), Mode::kRead);
  ASSERT_TRUE(db);
  auto epoch = (*db)->prepare("SELECT value FROM meta WHERE key = 'epoch'");
  ASSERT_TRUE(epoch && epoch->next());
  EXPECT_EQ(epoch->text(0), "1");
}

class StoreFileTest : public StoreFixture {};
INSTANTIATE_TEST_SUITE_P(Sqlite, StoreFileTest, testing::Values(Engine::kSqlite));

TEST_P(StoreFileTest, NamesADamagedFile) {
  store_.reset();
  std::filesystem::remove(state() / "hostler.db-wal");
  std::ofstream(state() / "hostler.db", std::ios::trunc) << std::string(8192, 'x');

  const auto opened = try_open();

  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("hostler.db"));
  EXPECT_THAT(opened.error().message, HasSubstr("damaged"));
}

TEST_P(StoreTest, RestoresLiveJobsInOrderOfArrivalWithoutBodies) {
  auto first = new_job(1);
  first.arrival = 8;
  first.shape = {.needs = {.vcpus = 3, .gpus = 1, .ram = 5, .scratch = 7},
                 .constraints = {.types = {"small", "big"},
                                 .market = model::Market::kSpot,
                                 .zone = "a",
                                 .pools = {},
                                 .gpu = {.kind = "a100", .memory = 40}},
                 .priority = -4,
                 .gang = {.id = 1, .count = 2, .one_zone = true},
                 .lasts = std::chrono::hours(2),
                 .restartable = true,
                 .attempts_max = 9,
                 .start_failures_max = 8};
  first.name = "n";
  first.client_key = "k";
  first.client_digest = "d";
  auto second = new_job(2);
  second.arrival = 7;
  auto ended = new_job(3);
  ended.record.state = model::WorkState::kSucceeded;
  must_commit({first, second, ended, record(17, "j-3", "ended")});

  const auto restored = reopened();

  ASSERT_EQ(restored.work.size(), 2U);
  EXPECT_EQ(restored.work[0].record.id.value, 2U);
  first.body.reset();
  EXPECT_EQ(restored.work[1], first);
  EXPECT_EQ(restored.last_work, 3U);
  EXPECT_EQ(restored.last_revision, 17U);
  ASSERT_EQ(restored.client_keys.size(), 1U);
  EXPECT_EQ(restored.client_keys[0].key, "k");
  EXPECT_EQ(restored.client_keys[0].digest, "d");
}

TEST_P(StoreTest, RestoresEveryFieldOfAJobsRecord) {
  auto change = job_in(1, model::WorkState::kCollecting);
  auto& r = change.record;
  r.reason = model::EndReason::kTimeLimit;
  r.reason_text = "text";
  r.attempt = 2;
  r.starts = 4;
  r.instance = {3};
  r.refused_by = {"h-1", "h-3"};
  r.cancel_requested = r.limits_enforced = true;
  r.exit_code = -5, r.signal = 6, r.cpu_us = 7, r.ram_peak = 8;
  r.stdout_bytes = 9, r.stderr_bytes = 10, r.started = {11}, r.ended = {12};
  must_commit({new_job(1)});
  must_commit({change});

  const auto restored = reopened();

  ASSERT_EQ(restored.work.size(), 1U);
  EXPECT_EQ(restored.work[0].record, r);
}

TEST_P(StoreTest, RestoresWorkAndItsAttemptsWithTheirKind) {
  auto lease = new_work({2, kLease});
  lease.client_key = "k";
  model::AttemptChanged attempt;
  attempt.attempt = {{2, kLease}, 1};
  must_commit({new_job(1), lease, terms_of(2), attempt, new_work({3, kReservation})});

  const auto restored = reopened();

  ASSERT_EQ(restored.work.size(), 3U);
  EXPECT_EQ(restored.work[0].record.id.text(), "j-1");
  EXPECT_EQ(restored.work[1].record.id.text(), "l-2");
  EXPECT_EQ(restored.work[2].record.id.text(), "r-3");
  ASSERT_EQ(restored.attempts.size(), 1U);
  EXPECT_EQ(restored.attempts[0].attempt.text(), "l-2.1");
  ASSERT_EQ(restored.client_keys.size(), 1U);
  EXPECT_EQ(restored.client_keys[0].work.text(), "l-2");
}

TEST_P(StoreTest, RestoresTheCardsOfAnAttemptAlsoAfterItsEnd) {
  model::AttemptChanged attempt;
  attempt.attempt = {{1}, 1};
  attempt.cards = {"GPU-5a13bb21", "GPU-0c99"};
  must_commit({new_job(1), attempt});
  EXPECT_THAT(reopened().attempts, ElementsAre(attempt));

  attempt.state = model::AttemptState::kEnded;
  attempt.end = model::AttemptEnd{};
  must_commit({attempt});
  const auto restored = reopened();
  ASSERT_EQ(restored.attempts.size(), 1U);
  EXPECT_EQ(restored.attempts[0].cards, attempt.cards);
  EXPECT_EQ(store_->reads().attempt({{1}, 1})->attempt.cards, attempt.cards);
}

TEST_P(StoreTest, RestoresAnInstanceWithItsIdentityAndItsCreateByteForByte) {
  auto change = instance_in(7, model::InstanceState::kBooting);
  auto& r = change.record;
  r.pool = "default", r.type = "small", r.zone = "a", r.price_per_hour = {250'000};
  r.market = model::Market::kSpot, r.health = model::Health::kBroken;
  r.idle_behavior = model::IdleBehavior::kHold;
  r.provider_id = "i-1", r.request_id = "r-1", r.idempotency_key = "key", r.epoch = 3;
  r.address = "127.0.0.9", r.remote_user = "root", r.ssh_port = 2022;
  r.identity = {"private",
                "public",
                "secret",
                "shown",
                "next",
                "next secret",
                model::VerifyMethod::kChallenge,
                model::Rotation::kNone};
  r.boot_id = "boot", r.last_sequence = 44, r.destroy_tries = 2, r.absent_sightings = 1;
  r.reason_code = model::Reason::kBootTimeout, r.reason = "why", r.last_text = "last";
  r.created = {1}, r.verified = {2}, r.ready = {3}, r.first_job = {4}, r.state_since = {5},
  r.deadline = {6}, r.gone = {7}, r.off_us = 8;
  r.total = {.vcpus = 9, .gpus = 10, .ram = 11, .scratch = 12};
  r.jobs_max = 13;
  r.uses = 14;
  model::CreateRequest create;
  create.idempotency_key = "key";
  create.host_instance_id = "h-7";
  create.owner = "owner";
  create.epoch = 3;
  create.type = {.name = "small",
                 .provider_type = "m1",
                 .resources = {1, 3, 3, 4},
                 .gpu_groups = {{.kind = "a100", .memory = 40, .count = 2},
                                {.kind = "t4", .memory = 0, .count = 1}},
                 .added_scratch = 3,
                 .price_per_hour = {5},
                 .market = model::Market::kSpot,
                 .zones = {"a", "b"},
                 .only_in = {},
                 .quota_group = "g",
                 .image_id = "img",
                 .provider_params_json = R"({"a":"\n"})"};
  create.region = "r", create.zone = "a", create.subnet = "s", create.price_cap_per_hour = {9};
  create.placement = {.root_disk = 8,
                      .subnets = {},
                      .security_groups = {"sg-1", "sg-2"},
                      .profiles = {"p"},
                      .placement_group = "pg",
                      .capacity_reservation = "cr",
                      .identity_profile = "ip",
                      .tenancy = model::Tenancy::kHost,
                      .public_address = model::PublicAddress::kYes};
  create.remote_user = "jane";
  create.name_hint = "hint", create.user_data_format = model::UserDataFormat::kMime;
  create.user_data = std::string("\0\xff\n\"", 4);
  create.ssh_host_key_private = "-----BEGIN\n", create.ssh_host_key_public = "ssh-ed25519 A";
  create.ssh_public_keys = {"k1", "k2"};
  create.user_data_gzip = true;
  create.tags = {{"hostler-key", "key"}, {"x", "\"\u00e9"}};
  change.create = std::make_shared<const model::CreateRequest>(create);
  must_commit({change});

  const auto restored = reopened();

  ASSERT_EQ(restored.instances.size(), 1U);
  EXPECT_EQ(restored.instances[0], change);
}

TEST_P(StoreTest, ForgetsGoneInstancesAndOpenedGatesAtRestartAndKeepsTheRest) {
  model::GateChanged gate;
  gate.record = {.key = "local create type small",
                 .set = "local",
                 .op = model::CloudOp::kCreate,
                 .cls = model::CloudErrorClass::kQuota,
                 .scope = model::scope::kType,
                 .type = "small",
                 .group = "g",
                 .zone = "z",
                 .subnet = "s",
                 .region = "r",
                 .pool = "p",
                 .image = "img",
                 .instance = {7},
                 .market = model::Market::kSpot,
                 .until = {99},
                 .failures = 3,
                 .message = "no",
                 .crash = model::DriverCrash{{"bad", "1.0", "file 1"}, "create", "died", "words"}};
  auto other = gate;
  other.record.key = "other";
  other.record.market.reset();
  other.record.crash.reset();
  must_commit({gate, other, instance_in(1, model::InstanceState::kGone),
               instance_in(2, model::InstanceState::kIdle)});
  must_commit({model::GateOpened{"other"}});

  const auto restored = reopened();

  EXPECT_THAT(restored.gates, ElementsAre(gate.record));
  ASSERT_EQ(restored.instances.size(), 1U);
  EXPECT_EQ(restored.instances[0].record.id.value, 2U);
  EXPECT_EQ(restored.last_instance, 2U);
}

TEST_P(StoreTest, KeepsTheLastImageOfEachQueryUntilItIsForgotten) {
  const model::ImageRow first{"west", "name \"a'*\"", {"i-1", "a 1", "us", "x86_64", {-5}}, {300}};
  auto second = first, other = first;
  second.image.id = "i-2\n";
  other.set = "east";
  must_commit({first, other});
  must_commit({second, model::ImageForgotten{"east", other.query}, other});

  EXPECT_THAT(reopened().images, ElementsAre(other, second));
  must_commit({model::ImageForgotten{"east", other.query}, model::ImageForgotten{"west", "x"}});
  EXPECT_THAT(reopened().images, ElementsAre(second));
}

TEST_P(StoreTest, AnImageWithoutAnIdIsNamedAndLeftOut) {
  must_commit({model::ImageRow{"local", "name \"a\"", {"i-1", "", "", "", {}}, {3}}});
  store_.reset();
  ASSERT_TRUE(connect(place(), Mode::kWrite).value()->execute("UPDATE images SET image = ''"));

  const auto restored = reopened();

  EXPECT_TRUE(restored.images.empty());
  ASSERT_EQ(restored.damaged.size(), 1U);
  EXPECT_EQ(restored.damaged[0].key, "local name \"a\"");
  EXPECT_EQ(restored.damaged[0].problem, "image is no id");
}

TEST_P(StoreTest, KeepsTheLastAccountOfEachSet) {
  must_commit({model::SetAccount{"west", "a1", "eu"}, model::SetAccount{"east", "", "us"},
               model::SetAccount{"west", "a2", "eu"}});
  must_commit({model::SetAccount{"west", "b'2\n", "\xc3\xa9u"}});

  EXPECT_THAT(reopened().accounts, ElementsAre(model::SetAccount{"east", "", "us"},
                                               model::SetAccount{"west", "b'2\n", "\xc3\xa9u"}));
}

TEST_P(StoreTest, KeepsWhatHostsReportedOfTheirRamUntilItIsForgotten) {
  must_commit({model::RamReport{"west", "small", 8, 7}, model::RamReport{"east", "small", 8, 6},
               model::RamReport{"west", "small", 8, 5}, model::RamReport{"west", "large", 9, 8}});
  must_commit({model::RamForgotten{"west", "large"}, model::RamForgotten{"west", "none"}});

  EXPECT_THAT(reopened().ram_reports, ElementsAre(model::RamReport{"east", "small", 8, 6},
                                                  model::RamReport{"west", "small", 8, 5}));
}

TEST_P(StoreTest, TheCardsThatHostsHaveListedAreKeptByGroupUntilTheyAreForgotten) {
  must_commit({model::GpuReport{"west", "g", "a100", 40, 4, 3},
               model::GpuReport{"west", "g", "a100", 80, 4, 2},
               model::GpuReport{"west", "g", "a100", 40, 4, 1}});
  must_commit({model::GpuForgotten{"west", "g", "a100", 80}});
  EXPECT_THAT(reopened().gpu_reports, ElementsAre(model::GpuReport{"west", "g", "a100", 40, 4, 1}));
}

TEST_P(StoreTest, KeepsTheLastUseOfEachPrincipal) {
  must_commit({model::PrincipalUse{"user bob", {7}, {100}}, model::PrincipalUse{"user al", {0}, {}},
               model::PrincipalUse{"user bob", {INT64_MAX}, {200}}});
  must_commit({model::PrincipalUse{"user 'al\n", {5}, {300}}});

  EXPECT_THAT(reopened().uses, ElementsAre(model::PrincipalUse{"user 'al\n", {5}, {300}},
                                           model::PrincipalUse{"user al", {0}, {}},
                                           model::PrincipalUse{"user bob", {INT64_MAX}, {200}}));
}

TEST_P(StoreTest, KeepsTheLastPusherOfEachPoolWithItsSupersededSessions) {
  const model::PusherRecord cpu{"cpu", "user al", "s-1", {}};
  const model::PusherRecord gpu{"gpu", "user bob", "s,\n\"3", {"s\n2", "", "s,1", "\xc3\xa9"}};
  must_commit({cpu, model::PusherRecord{"gpu", "user al", "s", {"r"}}, gpu});

  EXPECT_THAT(reopened().pushers, ElementsAre(cpu, gpu));
  must_commit({model::PusherRecord{"gpu", "user bob", "s-4", {gpu.session}}});
  EXPECT_THAT(reopened().pushers,
              ElementsAre(cpu, model::PusherRecord{"gpu", "user bob", "s-4", {gpu.session}}));
}

TEST_P(StoreTest, KeepsWhatASchedulerHasReportedOfAHost) {
  auto host = instance_in(7, model::InstanceState::kIdle);
  host.record.agent = model::AgentReport::kMissing;
  host.record.agent_since = {1'760'000'000'000'000};
  must_commit({host});

  const auto restored = reopened();

  ASSERT_EQ(restored.instances.size(), 1U);
  EXPECT_EQ(restored.instances[0].record.agent, model::AgentReport::kMissing);
  EXPECT_EQ(restored.instances[0].record.agent_since, host.record.agent_since);
}

}  // namespace
}  // namespace hostler::store

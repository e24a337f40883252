#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

#include "core/store/store.h"
#include "tests/temp_folder.h"
#include "tests/unit/store/postgres_server.h"

namespace hostler::store {

/// In the names of tests.
inline void PrintTo(Engine engine, std::ostream* out) {
  *out << (engine == Engine::kSqlite ? "sqlite" : "postgres");
}

inline constexpr auto kDeadline = std::chrono::seconds(60);

using test::TempFolder;

inline constexpr model::WorkKind kLease = model::WorkKind::kLease;
inline constexpr model::WorkKind kReservation = model::WorkKind::kReservation;

inline model::WorkItem new_work(model::WorkId id, std::string body = "{}") {
  model::WorkItem item;
  item.record.id = id;
  item.arrival = id.value;
  item.shape.needs = {.vcpus = 1, .gpus = 0, .ram = 1 << 30, .scratch = 0};
  item.principal = "user root";
  item.submitted = {1'000'000};
  item.body = std::make_shared<const std::string>(std::move(body));
  return item;
}
inline model::WorkItem new_job(std::uint64_t id, std::string body = "{}") {
  return new_work({id}, std::move(body));
}

/// The row that a lease has besides those of all work.
inline model::LeaseChanged terms_of(std::uint64_t lease) {
  model::LeaseChanged out;
  out.record.id = {lease, kLease};
  out.record.term = std::chrono::hours(2);
  out.record.wait_max = std::chrono::minutes(10);
  return out;
}

inline model::WorkChanged job_in(std::uint64_t id, model::WorkState state) {
  model::WorkChanged change;
  change.record.id = {id};
  change.record.state = state;
  return change;
}

inline model::LedgerRecord record(model::Revision rev, std::string subject, std::string event,
                                  Wall time = {1}) {
  model::LedgerRecord out;
  out.rev = rev;
  out.time = time;
  out.actor = "test";
  out.subject = std::move(subject);
  out.event = model::parse_event(event).value_or(model::Event::kUnknown);
  return out;
}

inline model::InstanceChanged instance_in(std::uint64_t id, model::InstanceState state) {
  model::InstanceChanged change;
  change.record.id = {id};
  change.record.state = state;
  change.record.set = "local";
  return change;
}

inline model::Commit commit_of(std::vector<model::Change> changes,
                               std::vector<model::WorkId> bodies_wanted = {}) {
  model::Commit commit;
  for (const auto& change : changes)
    if (const auto* entry = std::get_if<model::LedgerRecord>(&change))
      commit.last_revision = entry->rev;
  commit.changes = std::move(changes);
  commit.bodies_wanted = std::move(bodies_wanted);
  return commit;
}

/// Collects what the store says of its health.
struct HealthLog {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Health> seen;

  std::function<void(const Health&)> callback() {
    return [this](const Health& health) {
      const std::lock_guard lock(mutex);
      seen.push_back(health);
      changed.notify_all();
    };
  }
  std::size_t size() {
    const std::lock_guard lock(mutex);
    return seen.size();
  }
  Health at(std::size_t index) {
    const std::lock_guard lock(mutex);
    return seen.at(index);
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, kDeadline, [&] { return seen.size() >= count; });
  }
};

/// A store in a folder of its own, on the engine that the test is run for: see
/// HOSTLER_ON_BOTH_ENGINES.
class StoreFixture : public testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    if (GetParam() == Engine::kPostgres) {
      if (PostgresServer::get() == nullptr) GTEST_SKIP() << PostgresServer::kMissing;
      postgres_ = PostgresServer::get()->emptied_database();
    }
    open();
  }

  void open(Options options = {}) {
    store_.reset();
    auto opened = try_open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
  }
  Result<std::unique_ptr<Store>> try_open(Options options = {}) {
    options.postgres = postgres_;
    return Store::open(state(), std::move(options));
  }
  [[nodiscard]] std::filesystem::path state() const { return folder_.path() / "state"; }
  [[nodiscard]] bool on_postgres() const { return GetParam() == Engine::kPostgres; }
  [[nodiscard]] Place place() const { return {state(), postgres_}; }
  /// What a new process finds.
  model::Restored reopened() {
    open();
    auto restored = store_->load();
    EXPECT_TRUE(restored) << restored.error().message;
    return restored ? *std::move(restored) : model::Restored{};
  }
  /// Waits until the commit is durable.
  Result<Committed> commit(model::Commit commit) {
    // Shared: set_value() may still be busy with it when get() has returned.
    const auto done = std::make_shared<std::promise<Result<Committed>>>();
    store_->commit(std::move(commit),
                   [done](Result<Committed> result) { done->set_value(std::move(result)); });
    auto future = done->get_future();
    if (future.wait_for(kDeadline) != std::future_status::ready) {
      ADD_FAILURE() << "the commit does not end";
      std::abort();
    }
    return future.get();
  }
  void must_commit(std::vector<model::Change> changes) {
    const auto done = commit(commit_of(std::move(changes)));
    ASSERT_TRUE(done) << done.error().message;
  }

  TempFolder folder_;
  std::string postgres_;  ///< The connection string; empty: SQLite.
  std::unique_ptr<Store> store_;
};

/// Runs the TEST_Ps of a StoreFixture on SQLite and on PostgreSQL.
#define HOSTLER_ON_BOTH_ENGINES(Fixture)                                       \
  INSTANTIATE_TEST_SUITE_P(Sqlite, Fixture, testing::Values(Engine::kSqlite)); \
  INSTANTIATE_TEST_SUITE_P(Postgres, Fixture, testing::Values(Engine::kPostgres))

}  // namespace hostler::store

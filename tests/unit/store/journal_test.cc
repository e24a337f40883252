#include "core/store/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "core/base/files.h"
#include "core/store/connect.h"
#include "tests/unit/store/fixture.h"

namespace hostler::store {
namespace {

using model::InstanceState;
using model::WorkState;
using testing::ElementsAre;
using testing::HasSubstr;

class JournalTest : public StoreFixture {
 protected:
  /// Nobody else may write until its transaction ends.
  std::unique_ptr<Connection> locked() {
    auto other = connect(place(), on_postgres() ? Mode::kRead : Mode::kWrite);
    EXPECT_TRUE(other && (*other)->begin());
    if (!on_postgres()) return *std::move(other);
    EXPECT_TRUE((*other)->execute("LOCK TABLE work, work_specs, ledger IN SHARE MODE"));
    return *std::move(other);
  }
};

model::AttemptChanged attempt_in(model::AttemptState state) {
  model::AttemptChanged change;
  change.attempt = {{1}, 1};
  change.instance = {5};
  change.boot_id = "boot";
  change.sequence = 3;
  change.state = state;
  return change;
}

model::AttemptEnd ended_with(std::string out, std::string err) {
  model::AttemptEnd end;
  end.exit_code = 4;
  end.text = "text";
  end.stdout_bytes = out.size();
  end.stderr_bytes = err.size();
  end.stdout_inline = std::move(out);
  end.stderr_inline = std::move(err);
  end.has_output_files = true;
  end.cpu_us = 6;
  end.ram_peak = 7;
  end.limits_enforced = true;
  end.started = {8};
  end.ended = {9};
  return end;
}

HOSTLER_ON_BOTH_ENGINES(JournalTest);

TEST_P(JournalTest, HandsOverTheWantedBodies) {
  must_commit({new_job(1, "one"), new_job(2, "two")});

  const auto done = commit(commit_of({new_job(3, "three")}, {{2}, {99}, {3}}));

  ASSERT_TRUE(done);
  ASSERT_EQ(done->bodies.size(), 2U);
  EXPECT_EQ(done->bodies[0].work.value, 2U);
  EXPECT_EQ(*done->bodies[0].text, "two");
  EXPECT_EQ(*done->bodies[1].text, "three");
}

TEST_P(JournalTest, HandsOverManyBodiesInTheOrderTheyWereWantedIn) {
  std::vector<model::Change> jobs;
  std::vector<model::WorkId> wanted;
  for (std::uint64_t id = 1; id <= 250; ++id) {
    jobs.emplace_back(new_job(id, "body " + std::to_string(id)));
    wanted.insert(wanted.begin(), {id});
  }
  wanted.push_back({7});  // again
  must_commit(std::move(jobs));

  const auto done = commit(commit_of({}, wanted));

  ASSERT_TRUE(done);
  ASSERT_EQ(done->bodies.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(done->bodies[i].work, wanted[i]);
    EXPECT_EQ(*done->bodies[i].text, "body " + std::to_string(wanted[i].value));
  }
}

TEST_P(JournalTest, PutsNoMoreThanSomeMegabytesIntoOneTransaction) {
  std::atomic<std::size_t> most = 0;
  open({.on_try = [&](const GroupTry& group) { most = std::max(most.load(), group.commits); }});
  constexpr std::uint64_t kCommits = 20;
  std::promise<void> held, queued, all;
  store_->commit(commit_of({record(1, "x", "holds the thread")}), [&](const Result<Committed>&) {
    held.set_value();
    queued.get_future().wait();
  });
  held.get_future().wait();
  for (std::uint64_t id = 1; id <= kCommits; ++id)
    store_->commit(commit_of({new_job(id, std::string(4 << 20, 'b'))}),
                   [&, id](const Result<Committed>& done) {
                     ASSERT_TRUE(done);
                     if (id == kCommits) all.set_value();
                   });

  queued.set_value();

  ASSERT_EQ(all.get_future().wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(most, 4U);
}

TEST_P(JournalTest, CallsBackInTheOrderOfTheCommits) {
  std::vector<model::Revision> seen;
  std::promise<void> last;
  for (model::Revision rev = 1; rev <= 500; ++rev)
    store_->commit(commit_of({record(rev, "set local", "tick")}), [&](Result<Committed> done) {
      ASSERT_TRUE(done);
      seen.push_back(done->last_revision);
      if (seen.size() == 500) last.set_value();
    });
  ASSERT_EQ(last.get_future().wait_for(kDeadline), std::future_status::ready);

  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(store_->health().queued, 0U);
}

TEST_P(JournalTest, KeepsTheLastOfSeveralChangesAndEveryLedgerRecord) {
  must_commit({new_job(1), job_in(1, WorkState::kStarting), record(1, "j-1", "starting"),
               job_in(1, WorkState::kRunning), record(2, "j-1", "running"),
               instance_in(5, InstanceState::kIdle), instance_in(5, InstanceState::kBusy)});
  must_commit({job_in(1, WorkState::kCollecting), record(3, "j-1", "ended"),
               job_in(1, WorkState::kFailed), record(4, "j-1", "failed")});

  EXPECT_EQ(store_->reads().job({1})->record.state, WorkState::kFailed);
  EXPECT_EQ(store_->reads().instance({5})->state, InstanceState::kBusy);
  EXPECT_EQ(store_->reads().ledger_of("j-1", 0, 10)->items.size(), 4U);
}

TEST_P(JournalTest, KeepsInlineOutputOnceWhateverFollows) {
  auto ended = attempt_in(model::AttemptState::kEnded);
  ended.end = ended_with("out\n", "err");
  must_commit({attempt_in(model::AttemptState::kIntended)});
  must_commit({ended});
  auto done = attempt_in(model::AttemptState::kDone);
  must_commit({done});
  done.end = ended_with("", "");  // the end again, its output no more
  must_commit({done});

  const auto attempt = store_->reads().attempt({{1}, 1});
  ASSERT_TRUE(attempt);
  done.end = ended.end;
  done.end->stdout_bytes = done.end->stderr_bytes = 0;
  done.end->stdout_inline.clear();
  done.end->stderr_inline.clear();
  EXPECT_EQ(attempt->attempt, done);
  EXPECT_EQ(store_->read_output({{1}, 1}, kStdoutStream, 0, 100)->data, "out\n");
  EXPECT_EQ(store_->read_output({{1}, 1}, kStderrStream, 0, 100)->data, "err");
}

TEST_P(JournalTest, KeepsInlineOutputOfAnAttemptThatIsDoneInTheSameGroup) {
  auto ended = attempt_in(model::AttemptState::kEnded);
  ended.end = ended_with("out", "");
  must_commit(
      {attempt_in(model::AttemptState::kIntended), ended, attempt_in(model::AttemptState::kDone)});
  open();

  const auto attempt = store_->reads().attempt({{1}, 1});
  ASSERT_TRUE(attempt && attempt->attempt.end);
  EXPECT_EQ(attempt->attempt.state, model::AttemptState::kDone);
  EXPECT_EQ(store_->read_output({{1}, 1}, kStdoutStream, 0, 100)->data, "out");
  const auto restored = store_->load();
  ASSERT_TRUE(restored);
  EXPECT_TRUE(restored->attempts.empty());
}

TEST_P(JournalTest, RestoresOpenAttempts) {
  auto second = attempt_in(model::AttemptState::kEnded);
  second.attempt.number = 2;
  second.end = ended_with("out", "");
  must_commit({new_job(1), attempt_in(model::AttemptState::kIntended), second});

  const auto restored = reopened();

  second.end->stdout_inline.clear();
  EXPECT_THAT(restored.attempts, ElementsAre(attempt_in(model::AttemptState::kIntended), second));
}

TEST_P(JournalTest, ErasesCreatesAndLeavesNoTraceOfTheirSecretsInTheFiles) {
  auto wanted = instance_in(1, InstanceState::kRequested);
  model::CreateRequest create;
  create.ssh_host_key_private = "the-very-secret-key-of-h-1";
  wanted.create = std::make_shared<const model::CreateRequest>(create);
  wanted.record.identity.delivered_private_key = create.ssh_host_key_private;
  must_commit({wanted});
  auto verified = instance_in(1, InstanceState::kIdle);
  verified.erase_create = true;
  must_commit({verified});

  const auto restored = reopened();

  ASSERT_EQ(restored.instances.size(), 1U);
  EXPECT_EQ(restored.instances[0].create, nullptr);
  if (on_postgres()) return;  // its files are the server's
  for (const char* file : {"hostler.db", "hostler.db-wal"}) {
    const auto bytes = read_file(state() / file, 100 << 20);
    ASSERT_TRUE(bytes) << file;
    EXPECT_EQ(bytes->find("the-very-secret-key-of-h-1"), std::string::npos) << file;
  }
}

TEST_P(JournalTest, TriesAgainInOrderUntilALockedDatabaseIsFree) {
  HealthLog log;
  open({.on_health = log.callback()});
  const auto other = locked();
  std::vector<int> order;
  std::promise<void> both;
  store_->commit(commit_of({new_job(1)}), [&](Result<Committed> done) {
    EXPECT_TRUE(done);
    order.push_back(1);
  });
  ASSERT_TRUE(log.wait_for(1));
  EXPECT_FALSE(store_->health().ok);
  EXPECT_THAT(store_->health().error, HasSubstr("locked"));
  store_->commit(commit_of({job_in(1, WorkState::kRunning)}), [&](Result<Committed> done) {
    EXPECT_TRUE(done);
    order.push_back(2);
    both.set_value();
  });
  EXPECT_EQ(store_->health().queued, 2U);

  other->roll_back();

  ASSERT_EQ(both.get_future().wait_for(kDeadline), std::future_status::ready);
  EXPECT_THAT(order, ElementsAre(1, 2));
  EXPECT_TRUE(store_->health().ok);
  EXPECT_EQ(store_->reads().job({1})->record.state, WorkState::kRunning);
}

TEST_P(JournalTest, TellsTheWaitingWhenItStopsWithoutHavingWritten) {
  const auto other = locked();
  std::promise<Result<Committed>> done;
  store_->commit(commit_of({new_job(1)}),
                 [&](Result<Committed> result) { done.set_value(std::move(result)); });

  store_.reset();

  const auto result = done.get_future().get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::kUnavailable);
}

/// What hosts, drivers and users may send is not always text.
TEST_P(JournalTest, KeepsTextsByteForByte) {
  using namespace std::string_literals;
  const auto any =
      "\0 \xff\xc3 \x01 \x01"
      "00 \xed\xa0\x80 \xf4\x90\x80\x80 \xc3\xa9\n\xe2\x82"s;
  auto job = new_job(1, any + any);
  job.principal = any;
  job.name = job.client_key = any;
  job.record.reason_text = any;
  model::GateChanged gate;
  gate.record.key = gate.record.message = any;
  gate.record.set = "local";
  must_commit({job, gate, record(1, any, "gone")});

  const auto stored = store_->reads().job({1});
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(*stored->body, any + any);
  EXPECT_EQ(stored->record.reason_text, any);
  EXPECT_EQ(store_->reads().jobs({.principal = any, .name = any})->items.size(), 1U);
  EXPECT_EQ(store_->reads().ledger_of(any, 0, 10)->items.at(0).subject, any);
  const auto restored = reopened();
  EXPECT_EQ(restored.client_keys.at(0).key, any);
  EXPECT_EQ(restored.gates.at(0).message, any);
  must_commit({model::GateOpened{any}});
  EXPECT_TRUE(reopened().gates.empty());
}

/// Commits in a loop and writes each revision that was acknowledged to `pipe`; never returns.
[[noreturn]] void commit_until_killed(const Place& place, int pipe) {
  auto store = Store::open(place.folder, {.postgres = place.postgres});
  if (!store) ::_exit(1);
  for (model::Revision rev = 1;; ++rev) {
    auto ended = attempt_in(model::AttemptState::kEnded);
    ended.attempt = {{rev}, 1};
    ended.end = ended_with("output of " + std::to_string(rev), "");
    auto commit = commit_of({new_job(rev), ended, record(rev, model::WorkId{rev}.text(), "ended")});
    (*store)->commit(std::move(commit), [pipe](Result<Committed> done) {
      if (!done) ::_exit(1);
      const auto acknowledged = done->last_revision;
      if (::write(pipe, &acknowledged, sizeof acknowledged) != sizeof acknowledged) ::_exit(1);
    });
    while ((*store)->health().queued > 200) ::sched_yield();
  }
}

TEST_P(JournalTest, LosesNothingThatWasAcknowledgedAndKeepsNothingHalfWhenItIsKilled) {
  store_.reset();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) commit_until_killed(place(), ends[1]);
  ::close(ends[1]);
  model::Revision acknowledged = 0;
  for (int i = 0; i < 3000; ++i)
    ASSERT_EQ(::read(ends[0], &acknowledged, sizeof acknowledged), ssize_t{sizeof acknowledged});

  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  while (::read(ends[0], &acknowledged, sizeof acknowledged) == ssize_t{sizeof acknowledged}) {
  }
  ::close(ends[0]);

  open();
  const auto restored = store_->load();
  ASSERT_TRUE(restored);
  EXPECT_GE(restored->last_revision, acknowledged);
  EXPECT_EQ(restored->work.size(), restored->last_revision);
  EXPECT_EQ(restored->attempts.size(), restored->last_revision);
  EXPECT_EQ(restored->last_work, restored->last_revision);
  for (const auto rev : {model::Revision{1}, acknowledged / 2, acknowledged}) {
    const auto output = store_->read_output({{rev}, 1}, kStdoutStream, 0, 100);
    ASSERT_TRUE(output) << output.error().message;
    EXPECT_EQ(output->data, "output of " + std::to_string(rev));
  }
}

}  // namespace
}  // namespace hostler::store

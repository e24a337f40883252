#include "core/store/journal.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "core/log/log.h"
#include "core/store/backoff.h"

namespace hostler::store {
namespace {

using namespace std::chrono_literals;

// Limit a transaction to about 100 ms.
constexpr std::size_t kGroupChangesMax = 20'000, kGroupBytesMax = 16 << 20;
constexpr auto kIdleAfter = 1s;

[[noreturn]] void abort_with(const std::string& message) {
  log::error("store",
             message + "; hostlerd ends now: a restart continues from the last durable commit");
  std::abort();
}

bool erases_secrets(const model::Commit& commit) {
  return std::any_of(commit.changes.begin(), commit.changes.end(), [](const auto& change) {
    const auto* instance = model::get_change<model::InstanceChanged>(change);
    return instance != nullptr && instance->erase_create;
  });
}

/// Of the parts that may be long: bodies and inline output.
std::size_t bytes_in(const model::Commit& commit) {
  std::size_t bytes = 0;
  for (const auto& change : commit.changes) {
    if (const auto* item = std::get_if<model::WorkItem>(&change); item != nullptr && item->body)
      bytes += item->body->size();
    if (const auto* attempt = std::get_if<model::AttemptChanged>(&change);
        attempt != nullptr && attempt->end)
      bytes += attempt->end->stdout_inline.size() + attempt->end->stderr_inline.size();
  }
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::start(std::unique_ptr<Connection> connection,
                                                Segments segments, Watch watch) {
  std::unique_ptr<Journal> journal(
      new Journal(std::move(connection), std::move(segments), std::move(watch)));
  journal->writer_ = HOSTLER_TRY(Writer::open(*journal->connection_, journal->segments_));
  journal->connection_->set_on_silence(
      [raw = journal.get()](const std::string& error) { raw->on_silence(error); });
  journal->thread_ = std::thread([raw = journal.get()] { raw->run(); });
  return journal;
}

Journal::~Journal() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Journal::commit(model::Commit commit, OnCommitted done) {
  const std::size_t bytes = bytes_in(commit);
  {
    const MutexLock lock(mutex_);
    queue_.push_back({std::move(commit), std::move(done), {}, bytes});
    ++health_.queued;
  }
  wake_.notify_one();
}

void Journal::add_chore(Chore chore) {
  {
    const MutexLock lock(mutex_);
    chores_.push_back(std::move(chore));
  }
  wake_.notify_one();
}

Health Journal::health() const {
  const MutexLock lock(mutex_);
  return health_;
}

void Journal::run() {
  pthread_setname_np(pthread_self(), "store");
  const MutexLock lock(mutex_);
  for (;;) {
    wait_for_work();
    if (queue_.empty() && stopping_) {
      const MutexUnlock unlocked(mutex_);
      (void)connection_->do_idle_work();  // if it fails, the next start does it
      return;
    }
    if (!queue_.empty()) {
      take_group();
      if (!commit_group()) return fail_queued_commits();
    }
    if (!chores_.empty() && !stopping_) run_chore();
  }
}

void Journal::wait_for_work() {
  const auto has_work = [this]() HOSTLER_REQUIRES(mutex_) {
    return stopping_ || !queue_.empty() || !chores_.empty();
  };
  if (!has_idle_work_) return wake_.wait(mutex_, has_work);
  if (!wake_.wait_for(mutex_, kIdleAfter, has_work)) do_idle_work();
}

void Journal::do_idle_work() {
  Result<void> checked;
  {
    const MutexUnlock unlocked(mutex_);
    connection_->clear_failure();
    checked = connection_->check();
    abort_if_lost();
    if (checked) {
      const auto more = connection_->do_idle_work();
      has_idle_work_ = !more || *more;  // a failure is tried again: a reader may be in the way
      abort_if_lost();
    }
  }
  report(checked.has_value(), checked ? std::string() : checked.error().message);
}

void Journal::on_silence(const std::string& error) {
  const MutexLock lock(mutex_);
  report(false, error);
}

void Journal::abort_if_lost() {
  if (connection_->failure() == Failure::kLost) abort_with(connection_->why_lost());
}

void Journal::take_group() {
  group_changes_ = 0;
  std::size_t bytes = 0;
  while (!queue_.empty() && group_changes_ < kGroupChangesMax && bytes < kGroupBytesMax) {
    group_changes_ += queue_.front().commit.changes.size();
    bytes += queue_.front().bytes;
    group_.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  group_written_ = false;
}

bool Journal::commit_group() {
  Backoff backoff;
  for (;;) {
    const bool last_try = stopping_;
    const auto result = try_group();
    if (result) break;
    if (makes_room()) continue;
    report(false, result.error().message);
    if (last_try) return false;
    wake_.wait_for(mutex_, backoff.next(), [this]() HOSTLER_REQUIRES(mutex_) { return stopping_; });
  }
  report(true, {});
  health_.queued -= group_.size();
  const MutexUnlock unlocked(mutex_);
  for (auto& entry : group_)
    if (entry.done) entry.done(std::move(entry.committed));
  group_.clear();
  connection_->clear_failure();
  const auto after = connection_->after_commit();
  abort_if_lost();
  if (!after) log::warn("store", after.error().message + "; the next commit tries again");
  return true;
}

bool Journal::makes_room() {
  // A database server that is away is no full disk.
  if (connection_->engine() == Engine::kPostgres && connection_->failure() != Failure::kNone)
    return false;
  const MutexUnlock unlocked(mutex_);
  return watch_.make_room && watch_.make_room();
}

Result<void> Journal::try_group() {
  const MutexUnlock unlocked(mutex_);
  const auto begin = std::chrono::steady_clock::now();
  auto result = write_group();
  if (watch_.on_try)
    watch_.on_try({.took = std::chrono::steady_clock::now() - begin,
                   .commits = group_.size(),
                   .changes = group_changes_,
                   .ok = result.has_value()});
  return result;
}

Result<void> Journal::write_group() {
  if (!group_written_) {
    std::vector<const model::Commit*> commits;
    commits.reserve(group_.size());
    for (const auto& entry : group_) commits.push_back(&entry.commit);
    auto written = writer_->write(make_batch(commits));
    if (!written) abort_if_lost();
    if (!written && connection_->failure() == Failure::kProgramError)
      abort_with("a commit breaks a constraint of the database, which is a bug in hostlerd: " +
                 written.error().message);
    HOSTLER_TRY(std::move(written));
    group_written_ = true;
    for (const auto* commit : commits) has_idle_work_ = has_idle_work_ || erases_secrets(*commit);
  }
  return read_bodies();
}

Result<void> Journal::read_bodies() {
  std::vector<Value> wanted;
  for (const auto& entry : group_)
    for (const auto work : entry.commit.bodies_wanted)
      wanted.emplace_back(static_cast<std::int64_t>(work.value));
  const auto found = HOSTLER_TRY(writer_->bodies(wanted));
  for (auto& entry : group_) {
    entry.committed.bodies.clear();
    entry.committed.last_revision = entry.commit.last_revision;
    for (const auto work : entry.commit.bodies_wanted)
      if (const auto body = found.find(work.value); body != found.end())
        entry.committed.bodies.push_back({work, body->second});
  }
  return {};
}

void Journal::fail_queued_commits() {
  const auto error =
      Error{Errc::kUnavailable, "the store stopped before this was durable: " + health_.error};
  std::move(queue_.begin(), queue_.end(), std::back_inserter(group_));
  queue_.clear();
  const MutexUnlock unlocked(mutex_);
  for (auto& entry : group_)
    if (entry.done) entry.done(tl::unexpected(error));
}

void Journal::run_chore() {
  const auto chore = std::move(chores_.front());
  chores_.pop_front();
  bool more = false;
  {
    const MutexUnlock unlocked(mutex_);
    connection_->clear_failure();
    more = chore(*connection_);
    abort_if_lost();
  }
  if (more) chores_.push_front(chore);
  // A slow answer was reported as silence, and on an idle site no commit would take this back.
  if (queue_.empty() && connection_->failure() == Failure::kNone) report(true, {});
}

void Journal::report(bool ok, const std::string& error) {
  if (health_.ok == ok && health_.error == error) return;
  health_.ok = ok;
  health_.error = error;
  if (!watch_.on_health) return;
  const Health now = health_;
  const MutexUnlock unlocked(mutex_);
  watch_.on_health(now);
}

}  // namespace hostler::store

// A disk that is full, and one that fails to sync.

#include <gmock/gmock.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <condition_variable>
#include <fstream>
#include <functional>
#include <future>
#include <mutex>

#include "tests/unit/store/fixture.h"

namespace hostler::store {
namespace {

constexpr int kCannotMount = 77;

/// Runs `body` in a child that has a file system of 8 MiB and 2000 inodes at `folder` for itself;
/// its result is the exit status.
int in_small_file_system(const std::filesystem::path& folder, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=8m,nr_inodes=2000") != 0)
      ::_exit(kCannotMount);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Fills the file system at `folder` to the last byte.
void fill(const std::filesystem::path& folder) {
  std::ofstream file(folder / "filler", std::ios::binary);
  file.rdbuf()->pubsetbuf(nullptr, 0);
  for (std::size_t size = 65536; size > 0; size /= 2)
    while (file.write(std::string(size, 'x').data(), static_cast<std::streamsize>(size))) {
    }
}

/// The steps of a commit on a full disk; 0 if all went as it should, else the step that did not.
int commit_on_a_full_disk(const std::filesystem::path& folder) {
  std::mutex mutex;
  std::condition_variable changed;
  std::string error;
  bool durable = false;
  auto store = Store::open(folder / "state", {.on_health = [&](const Health& health) {
                             const std::lock_guard lock(mutex);
                             if (!health.ok) error = health.error;
                             changed.notify_all();
                           }});
  if (!store) return 1;
  fill(folder);
  std::vector<model::Change> changes;
  for (std::uint64_t id = 1; id <= 100; ++id)
    changes.emplace_back(new_job(id, std::string(10'000, 'b')));
  (*store)->commit(commit_of(std::move(changes)), [&](const Result<Committed>& done) {
    const std::lock_guard lock(mutex);
    durable = done.has_value();
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  if (!changed.wait_for(lock, kDeadline, [&] { return !error.empty(); })) return 2;
  if (error.find("disk is full") == std::string::npos) return 3;
  if (durable) return 4;
  std::filesystem::remove(folder / "filler");
  if (!changed.wait_for(lock, kDeadline, [&] { return durable; })) return 5;
  lock.unlock();
  return (*store)->reads().job({100}) ? 0 : 6;
}

TEST(StoreFaultsTest, CommitsAfterAFullDiskHasRoomAgain) {
  const TempFolder folder;

  const int step =
      in_small_file_system(folder.path(), [&] { return commit_on_a_full_disk(folder.path()); });

  if (step == kCannotMount) GTEST_SKIP() << "may not mount a file system here";
  EXPECT_EQ(step, 0);
}

int append_on_a_full_disk(const std::filesystem::path& folder) {
  auto store = Store::open(folder / "state", {});
  if (!store) return 1;
  auto& outputs = (*store)->outputs();
  fill(folder);
  const auto first = std::make_shared<std::promise<std::uint64_t>>();
  const auto second = std::make_shared<std::promise<std::uint64_t>>();
  const model::AttemptId attempt{{1}, 1};
  outputs.append(attempt, 0, 0, std::string(100'000, 'a'),
                 [first](Result<std::uint64_t> end) { first->set_value(end.value_or(0)); });
  outputs.append(attempt, 0, 100'000, "b",
                 [second](Result<std::uint64_t> end) { second->set_value(end.value_or(0)); });
  auto first_end = first->get_future();
  auto second_end = second->get_future();
  while (outputs.problem().empty()) ::sched_yield();
  if (first_end.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return 2;
  std::filesystem::remove(folder / "filler");
  if (first_end.get() < 100'000 || second_end.get() != 100'001) return 3;
  const auto part = outputs.read(attempt, 0, 99'999, 10);
  return part && part->data == "ab" && part->lost == 0 ? 0 : 4;
}

int discard_on_a_full_disk(const std::filesystem::path& folder) {
  auto store = Store::open(folder / "state", {});
  if (!store) return 1;
  auto& outputs = (*store)->outputs();
  const model::AttemptId old{{1}, 1}, fresh{{2}, 1};
  const auto append = [&](model::AttemptId attempt) {
    const auto end = std::make_shared<std::promise<std::uint64_t>>();
    outputs.append(attempt, 0, 0, std::string(1'000'000, 'a'),
                   [end](Result<std::uint64_t> stored) { end->set_value(stored.value_or(0)); });
    return end->get_future();
  };
  if (append(old).get() != 1'000'000) return 2;
  fill(folder);
  auto waits = append(fresh);
  while (outputs.problem().empty()) ::sched_yield();
  if (outputs.discard(old, {"user ann", {1}}) != 1'000'000U) return 3;
  const auto mark = outputs.discarded(old);
  if (!mark || !*mark || (*mark)->by != "user ann") return 4;
  std::filesystem::remove(folder / "filler");
  return waits.get() == 1'000'000 ? 0 : 5;
}

// The thread that writes output waits for room; whoever makes room must not wait for that thread.
TEST(StoreFaultsTest, OutputIsDiscardedAlsoWhenTheDiskIsFull) {
  const TempFolder folder;

  const int step =
      in_small_file_system(folder.path(), [&] { return discard_on_a_full_disk(folder.path()); });

  if (step == kCannotMount) GTEST_SKIP() << "may not mount a file system here";
  EXPECT_EQ(step, 0);
}

/// Takes inodes at `folder` until a twentieth of them is left.
void take_inodes(const std::filesystem::path& folder) {
  std::filesystem::create_directory(folder / "fillers");
  for (int i = 0;; ++i) {
    struct statvfs disk {};
    ::statvfs(folder.c_str(), &disk);
    if (disk.f_favail < disk.f_files / 20) return;
    std::ofstream(folder / "fillers" / std::to_string(i));
  }
}

int append_where_inodes_are_few(const std::filesystem::path& folder) {
  auto store = Store::open(folder / "state", {.disk_reserve = 1 << 20});
  if (!store || !(*store)->check_room() || (*store)->output_room().free == 0) return 1;
  auto& outputs = (*store)->outputs();
  take_inodes(folder);
  if ((*store)->output_room().free != 0) return 2;
  const auto stored = std::make_shared<std::promise<std::uint64_t>>();
  outputs.append({{1}, 1}, 0, 0, "late",
                 [stored](Result<std::uint64_t> end) { stored->set_value(end.value_or(0)); });
  while (outputs.problem().empty()) ::sched_yield();
  if ((*store)->check_room()) return 3;
  std::promise<bool> row;
  (*store)->commit(commit_of({new_job(1)}),
                   [&](const Result<Committed>& done) { row.set_value(done.has_value()); });
  if (!row.get_future().get()) return 4;
  std::filesystem::remove_all(folder / "fillers");
  return stored->get_future().get() == 4 && (*store)->check_room() ? 0 : 5;
}

// Bug: files without bytes used up all inodes; then nothing was stored any more, also no row.
TEST(StoreFaultsTest, ADiskWithFewInodesIsLikeAFullOneAndRowsAreStored) {
  const TempFolder folder;

  const int step = in_small_file_system(folder.path(),
                                        [&] { return append_where_inodes_are_few(folder.path()); });

  if (step == kCannotMount) GTEST_SKIP() << "may not mount a file system here";
  EXPECT_EQ(step, 0);
}

TEST(StoreFaultsTest, SkipsNoOutputWhenTheDiskIsFull) {
  const TempFolder folder;

  const int step =
      in_small_file_system(folder.path(), [&] { return append_on_a_full_disk(folder.path()); });

  if (step == kCannotMount) GTEST_SKIP() << "may not mount a file system here";
  EXPECT_EQ(step, 0);
}

// ---- a log that cannot be synced: SQLite's own file methods, but for one ------------------------

sqlite3_vfs sound_vfs;
sqlite3_vfs failing_vfs;
sqlite3_io_methods failing_methods;
std::atomic<bool> sync_fails = false;
int (*sound_sync)(sqlite3_file*, int) = nullptr;

int open_with_failing_sync(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags,
                           int* out_flags) {
  const int code = sound_vfs.xOpen(&sound_vfs, name, file, flags, out_flags);
  if (code != SQLITE_OK || (flags & SQLITE_OPEN_WAL) == 0) return code;
  failing_methods = *file->pMethods;
  sound_sync = failing_methods.xSync;
  failing_methods.xSync = [](sqlite3_file* synced, int how) {
    return sync_fails ? SQLITE_IOERR_FSYNC : sound_sync(synced, how);
  };
  file->pMethods = &failing_methods;
  return code;
}

/// The process that dies runs the test from its beginning, and removes nothing: it is given the
/// folder of the one that watches it.
class SharedFolder {
 public:
  SharedFolder() {
    if (const char* given = std::getenv(kName); given != nullptr) {
      path_ = given;
      return;
    }
    own_.emplace();
    path_ = own_->path();
    ::setenv(kName, path_.c_str(), 1);
  }
  ~SharedFolder() {
    if (own_) ::unsetenv(kName);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  static constexpr const char* kName = "HOSTLER_TEST_FOLDER";
  std::optional<TempFolder> own_;
  std::filesystem::path path_;
};

[[noreturn]] void commit_while_syncs_fail(const std::filesystem::path& folder) {
  sound_vfs = failing_vfs = *sqlite3_vfs_find(nullptr);
  failing_vfs.zName = "failing";
  failing_vfs.xOpen = open_with_failing_sync;
  sqlite3_vfs_register(&failing_vfs, /*makeDflt=*/1);
  auto store = Store::open(folder / "state", {});
  if (!store) ::_exit(1);
  sync_fails = true;
  std::promise<void> done;
  (*store)->commit(commit_of({new_job(1)}), [&](const Result<Committed>&) { done.set_value(); });
  done.get_future().wait();
  ::_exit(2);  // acknowledged, or told as if it could be tried again
}

TEST(StoreFaultsDeathTest, EndsTheProcessWhenASyncFails) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const SharedFolder folder;

  EXPECT_EXIT(commit_while_syncs_fail(folder.path()), testing::KilledBySignal(SIGABRT),
              "sync of the database failed");
}

TEST(StoreFaultsDeathTest, EndsTheProcessWhenACommitBreaksTheRules) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const SharedFolder folder;

  EXPECT_EXIT(
      {
        auto store = Store::open(folder.path() / "state", {});
        std::promise<void> done;
        (*store)->commit(commit_of({record(1, "x", "a"), record(1, "x", "the same revision")}),
                         [&](const Result<Committed>&) { done.set_value(); });
        done.get_future().wait();
      },
      testing::KilledBySignal(SIGABRT), "bug in hostlerd");
}

}  // namespace
}  // namespace hostler::store

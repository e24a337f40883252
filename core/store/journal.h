#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/mutex.h"
#include "core/base/time.h"
#include "core/model/records.h"
#include "core/store/database.h"
#include "core/store/files/segments.h"
#include "core/store/writer.h"

namespace hostler::store {

/// The result of a durable commit.
struct Committed {
  model::Revision last_revision = 0;
  struct Body {
    model::WorkId work;
    std::shared_ptr<const std::string> text;
  };
  /// Of the work whose bodies were wanted, in that order; work that is not in the store is left
  /// out.
  std::vector<Body> bodies;
};
using OnCommitted = std::function<void(Result<Committed>)>;

struct Health {
  bool ok = true;
  std::string error;       ///< Of the last try; empty while ok.
  std::size_t queued = 0;  ///< Number of commits that are not durable yet.
};

/// One try to make a group of commits durable, for metrics.
struct GroupTry {
  Duration took{};
  std::size_t commits = 0, changes = 0;
  bool ok = false;
};

/// The store thread. It makes commits durable in the order in which they came; all that are queued
/// go into one transaction, up to a limit. A group that fails stays at the front and is tried again
/// with back-off, so no commit is skipped or overtaken. The process ends if a sync fails, if a
/// constraint is broken or if another daemon uses the database.
class Journal {
 public:
  /// One short step of housekeeping, run between two groups. True: there is more to do. It must
  /// leave no transaction open.
  using Chore = std::function<bool(Connection&)>;
  /// All are called on the store thread.
  struct Watch {
    /// Called when a try or a check of the server fails with a new error (effects must stop), also
    /// while it still waits for a server that does not answer; and when one succeeds again.
    std::function<void(const Health&)> on_health = {};
    std::function<void(const GroupTry&)> on_try = {};
    /// A try has failed. True: there is more room on the disk than before, so it is repeated at
    /// once.
    std::function<bool()> make_room = {};
  };

  static Result<std::unique_ptr<Journal>> start(std::unique_ptr<Connection> connection,
                                                Segments segments, Watch watch);
  /// Makes the queued commits durable, then ends the thread. If that fails, there is one more try;
  /// then the callbacks of the remaining commits get the error.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Any thread; never blocks. `done` is called on the store thread, in the order of the commits.
  void commit(model::Commit commit, OnCommitted done);
  /// Any thread. Chores run in order, one at a time.
  void add_chore(Chore chore);
  [[nodiscard]] Health health() const;
  /// The number of the segment file that is being written. For chores only.
  [[nodiscard]] std::uint64_t current_segment() const { return segments_.current(); }

 private:
  struct Entry {
    model::Commit commit;
    OnCommitted done;
    Committed committed;
    std::size_t bytes = 0;  ///< Of bodies and inline output.
  };

  Journal(std::unique_ptr<Connection> connection, Segments segments, Watch watch)
      : connection_(std::move(connection)),
        segments_(std::move(segments)),
        watch_(std::move(watch)) {}

  void run();
  void take_group() HOSTLER_REQUIRES(mutex_);
  /// False: the store stops and cannot write.
  bool commit_group() HOSTLER_REQUIRES(mutex_);
  // These functions unlock the mutex while they write or call back.
  /// One try, with its time measured.
  Result<void> try_group() HOSTLER_REQUIRES(mutex_);
  bool makes_room() HOSTLER_REQUIRES(mutex_);
  Result<void> write_group();
  Result<void> read_bodies();
  void fail_queued_commits() HOSTLER_REQUIRES(mutex_);
  void run_chore() HOSTLER_REQUIRES(mutex_);
  void abort_if_lost();
  void do_idle_work() HOSTLER_REQUIRES(mutex_);
  /// The server has not answered for some seconds; a call still waits for it.
  void on_silence(const std::string& error);
  /// Waits for commits or chores; does idle work meanwhile.
  void wait_for_work() HOSTLER_REQUIRES(mutex_);
  void report(bool ok, const std::string& error) HOSTLER_REQUIRES(mutex_);

  // Used by the store thread only.
  std::unique_ptr<Connection> connection_;
  Segments segments_;
  std::unique_ptr<Writer> writer_;
  Watch watch_;
  std::vector<Entry> group_;
  std::size_t group_changes_ = 0;
  bool group_written_ = false;
  /// The connection has work for idle times: erased secrets may still be in a log. True at a start,
  /// as an earlier run may have been killed.
  bool has_idle_work_ = true;

  mutable Mutex mutex_;
  Condition wake_;
  std::deque<Entry> queue_ HOSTLER_GUARDED_BY(mutex_);
  std::deque<Chore> chores_ HOSTLER_GUARDED_BY(mutex_);
  Health health_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;

  std::thread thread_;  ///< Last: everything above is ready when it starts.
};

}  // namespace hostler::store

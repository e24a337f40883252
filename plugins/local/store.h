#pragma once

#include <hostler/driver.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "condition.h"
#include "config.h"
#include "folder/instance_folder.h"
#include "folder/lock.h"
#include "record.h"

namespace hostler::local {

/// The current condition of one instance, from its folder.
struct Found {
  std::shared_ptr<const Record> record;
  Tags tags;
  State state;
  Condition condition;
};

/// The folder of an instance before it is published. The destructor removes it if it was not
/// published.
class Draft {
 public:
  Draft(std::string path, Lock lock) : folder_(std::move(path)), lock_(std::move(lock)) {}
  Draft(Draft&&) = default;
  ~Draft();
  const InstanceFolder& folder() const { return folder_; }

 private:
  friend class InstanceStore;
  InstanceFolder folder_;
  std::optional<Lock> lock_;  ///< Tells others that the draft is in use. Empty after publishing.
};

/// The root folder with the folders of all instances: the cloud of this driver. Several sets and
/// several processes may share one root folder; all state is on disk. [any-thread]
///
///   root/lock              held while an instance is published, so that counts and addresses are
///   exact root/instances/<id>    the folder of an instance, from publish until its last process is
///   gone root/new/<id>.<n>      drafts root/gone/<id>         empty files, kept for a day: keys of
///   destroyed instances root/kept/<id>/       copies of record and tags: an instance whose folder
///   somebody removed is listed by them until its last process has ended
class InstanceStore {
 public:
  /// Creates the folders. Throws driver::Error(HOSTLER_E_INVALID) if `root` cannot be used.
  explicit InstanceStore(const Config& config);

  std::vector<std::string> ids() const;
  InstanceFolder folder(const std::string& id) const;
  /// Null if it has no folder.
  std::shared_ptr<const Record> record(const std::string& id);
  /// Also of an instance whose folder somebody removed. Null if there is no such instance.
  std::shared_ptr<const Record> known(const std::string& id);
  /// Destroys an instance whose folder somebody removed; inspect() then kills what is left of it.
  void give_up(const std::string& id) const;
  /// The records of all instances, including those that are being removed. Reads only new records.
  std::vector<std::shared_ptr<const Record>> records();

  /// Returns the condition of an instance and completes interrupted work: starts a missing
  /// supervisor, or removes the folder of a destroyed instance.
  std::optional<Found> inspect(const std::string& id, hostler_op* op);
  /// Removes drafts that no process works on any more.
  void drop_stale_drafts(hostler_op* op);

  bool is_gone(const std::string& id) const;
  void remember_gone(const std::string& id) const;

  /// Blocks until it holds root/lock. Throws TIMEOUT or CANCELLED. Not recursive.
  class RootLock {
   public:
    RootLock(InstanceStore& store, hostler_op* op);
    ~RootLock();
    RootLock(const RootLock&) = delete;
    RootLock& operator=(const RootLock&) = delete;

   private:
    void end_turn();
    InstanceStore& store_;
    std::optional<Lock> file_;
  };

  /// Creates an empty draft. The caller must not hold a RootLock.
  Draft draft(const std::string& id, hostler_op* op);
  /// Publishes the draft as the instance. False: the instance exists already. The caller must hold
  /// a RootLock.
  bool publish(Draft& draft, const std::string& id);

  /// Starts the supervisor, unless another process has. If that fails, the instance becomes FAILED.
  void start(const InstanceFolder& folder, std::int64_t generation, hostler_op* op);

 private:
  std::shared_ptr<const Record> cached(const std::string& id);
  std::optional<Found> inspect_folder(const InstanceFolder& folder, const std::string& id,
                                      hostler_op* op);
  InstanceFolder copy_of(const std::string& id) const;
  void keep_copy(const std::string& id, const std::string& record, const std::string& tags) const;
  /// Of an instance without a folder.
  std::optional<Found> inspect_remains(const std::string& id) const;
  std::optional<Evidence> examine(const InstanceFolder& folder) const;
  void complete_removal(const InstanceFolder& folder, hostler_op* op) const;
  void finish_removal(const InstanceFolder& folder) const;
  void forget_old_keys() const;

  const std::string root_;
  const std::string supervisor_;
  // Only one thread of this process at a time waits for root/lock. Not a timed_mutex, because the
  // thread sanitizer of gcc 12 does not support it.
  std::mutex turn_mutex_;
  std::condition_variable turn_over_;
  bool turn_taken_ = false;
  std::mutex cache_mutex_;
  std::map<std::string, std::shared_ptr<const Record>> cache_;  ///< A record never changes.
};

}  // namespace hostler::local

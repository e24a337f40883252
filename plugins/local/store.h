#pragma once

#include <hostler/driver.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config.h"
#include "folder/instance_folder.h"
#include "folder/lock.h"
#include "record.h"
#include "sight.h"

namespace hostler::local {

/// One instance, as a look at its folder shows it.
struct Found {
  std::shared_ptr<const Record> record;
  Tags tags;
  State state;
  Sight sight;
};

/// An instance's folder before anyone can see it. Removed again unless it is published.
class Draft {
 public:
  Draft(std::string path, Lock lock) : folder_(std::move(path)), lock_(std::move(lock)) {}
  Draft(Draft&&) = default;
  ~Draft();
  const InstanceFolder& folder() const { return folder_; }

 private:
  friend class InstanceStore;
  InstanceFolder folder_;
  std::optional<Lock> lock_;  ///< Says that somebody is still at work on it. Empty once published.
};

/// The root folder with the folders of all instances: the cloud. Several sets, and several
/// processes, may share one; what it knows is on disk. [any-thread]
///
///   root/lock              taken to publish, so that counts and addresses are right
///   root/instances/<id>    one folder each, there from publish until the last process is gone
///   root/new/<id>.<n>      drafts
///   root/gone/<id>         empty files: keys that make no instance any more, kept for a day
class InstanceStore {
 public:
  /// Makes the folders. Throws driver::Error(HOSTLER_E_INVALID) about `root`.
  explicit InstanceStore(const Config& config);

  std::vector<std::string> ids() const;
  InstanceFolder folder(const std::string& id) const;
  /// Nothing where there is no such instance.
  std::shared_ptr<const Record> record(const std::string& id);
  /// Of all instances, those that are just being removed included. Reads only what is new.
  std::vector<std::shared_ptr<const Record>> records();

  /// Looks, and remedies what was cut short: starts a missing supervisor, removes what is
  /// destroyed.
  std::optional<Found> look(const std::string& id, hostler_op* op);
  /// The same for drafts that nobody works on any more.
  void drop_stale_drafts(hostler_op* op);

  bool is_gone(const std::string& id) const;
  void remember_gone(const std::string& id) const;

  /// Waits for root/lock. Throws TIMEOUT or CANCELLED. Not recursive.
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

  /// An empty draft. The caller has no RootLock.
  Draft draft(const std::string& id, hostler_op* op);
  /// Makes the draft the instance. False: it is there already. The caller has a RootLock.
  bool publish(Draft& draft, const std::string& id);

  /// Boots it, unless somebody else has. A supervisor that cannot run makes the instance FAILED.
  void start(const InstanceFolder& folder, std::int64_t generation, hostler_op* op);

 private:
  std::shared_ptr<const Record> known(const std::string& id);
  std::optional<Found> look_into(const InstanceFolder& folder, const std::string& id,
                                 hostler_op* op);
  std::optional<Evidence> examine(const InstanceFolder& folder) const;
  void see_removal_through(const InstanceFolder& folder, hostler_op* op) const;
  void finish_removal(const InstanceFolder& folder) const;
  void forget_old_keys() const;

  const std::string root_;
  const std::string supervisor_;
  // One thread of this process after another waits for root/lock. No timed_mutex: gcc 12's thread
  // sanitizer does not know how those are locked.
  std::mutex turn_mutex_;
  std::condition_variable turn_over_;
  bool turn_taken_ = false;
  std::mutex cache_mutex_;
  std::map<std::string, std::shared_ptr<const Record>> cache_;  ///< A record never changes.
};

}  // namespace hostler::local

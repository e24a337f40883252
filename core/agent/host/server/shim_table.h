#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/agent/host/attempt/shim_task.h"
#include "core/agent/host/system/os.h"
#include "core/agent/host/system/poller.h"
#include "core/model/ids.h"

namespace hostler::agent {

/// The shims that are alive: those that this server forked (its children), and those that it found
/// because an earlier server forked them. The end of a child arrives as SIGCHLD. The end of a found
/// shim arrives on its pidfd; on kernels without pidfds the table polls the shim's lock.
class ShimTable {
 public:
  /// `poller` must outlive the table.
  explicit ShimTable(Poller& poller) : poller_(poller) {}
  /// Opens shims.lock and the named pipe `wake` in the working directory.
  Result<void> open();

  /// Forks the shim of an attempt; sets `wake` and `locks` of the task. False if the fork failed;
  /// errno says why.
  bool fork(ShimTask task);
  /// Looks for a living shim that an earlier server forked, and watches it. False if none lives.
  bool find(model::AttemptId id, std::uint64_t sequence);
  /// Sends a signal to the attempt's shim; does nothing if no shim lives.
  void signal(model::AttemptId id, int number) const;

  // Each of the following removes shims that have ended from the table and returns their attempts.
  std::optional<model::AttemptId> take_child(pid_t pid);
  std::optional<model::AttemptId> take_found(int pidfd);
  /// Polls if that is due.
  std::vector<model::AttemptId> take_polled();
  /// When take_polled() has to be called next, boottime in us; INT64_MAX: never.
  [[nodiscard]] std::int64_t due() const { return polled_.empty() ? INT64_MAX : poll_at_; }

  [[nodiscard]] int wake_fd() const { return wake_.get(); }
  /// Empties the pipe `wake`: the attempts that have new output, possibly repeated.
  std::vector<model::AttemptId> read_wakes();
  /// Adds the process ids of all children.
  void add_children(std::set<pid_t>& out) const;

 private:
  struct Shim {
    pid_t pid = 0;
    std::uint64_t sequence = 0;
    bool is_child = false;
    UniqueFd pidfd;  ///< Only of found shims, where the kernel has pidfds.
  };
  std::optional<model::AttemptId> take(std::optional<model::AttemptId> id);

  Poller& poller_;
  UniqueFd locks_;
  UniqueFd wake_;
  std::map<model::AttemptId, Shim> shims_;
  std::map<pid_t, model::AttemptId> children_;
  std::map<int, model::AttemptId> pidfds_;
  std::set<model::AttemptId> polled_;  ///< Found shims without a pidfd.
  std::int64_t poll_at_ = 0;           ///< Boottime in us; of use only while polled_ is not empty.
};

}  // namespace hostler::agent

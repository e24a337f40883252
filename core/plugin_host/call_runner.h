#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/time.h"
#include "core/plugin_host/call_queue.h"
#include "core/plugin_host/driver_set.h"
#include "core/plugin_host/mailbox.h"
#include "core/plugin_host/operation.h"
#include "core/plugin_host/turnstile.h"

namespace hostler::plugin_host {

/// Runs the calls of one set: workers, which are in the driver, and one clerk, which keeps the
/// deadlines and hands out the results. A worker that hangs in the driver keeps its lane, so that
/// the driver never sees more calls at once than it allows (R35).
///
/// Threads: any, but start() and stop() once each. Held by a shared_ptr, which a worker that hangs
/// keeps for as long as it hangs.
class CallRunner final : public Operation::Listener,
                         public std::enable_shared_from_this<CallRunner> {
 public:
  struct Options {
    std::string driver;
    std::size_t slots = 1;  ///< Calls in the driver at once.
    std::size_t queue_max = 0;
    Duration grace{};
    Turnstile* turnstile = nullptr;  ///< Of a library that is serial as a whole.
  };

  explicit CallRunner(Options options);
  void start();
  /// Cancels everything, waits until it is over (the grace time at most), and ends the threads.
  /// True if the driver is out of every call: then the set can be closed.
  bool stop();

  /// Takes the call on; it ends as the class comment of DriverSet says.
  void submit(std::shared_ptr<Operation> op, Duration timeout);
  /// Ends a call that cannot be made.
  void refuse(std::shared_ptr<Operation> op, model::CloudError error);
  /// Runs `item` on the clerk's thread, after what was handed out before.
  void post(Mailbox::Item item) { mailbox_.post(std::move(item)); }
  /// The account allows fewer calls at once than the driver does.
  void lower_slots(std::size_t slots);

  [[nodiscard]] SetHealth health() const;

  void on_ended(Operation& op) override;
  void on_late_return(Operation& op) override;
  void on_broken_rule(const Operation& op, const std::string& rule) override;

 private:
  struct Active {
    std::shared_ptr<Operation> op;
    SteadyTime due;  ///< Of its alarm.
  };
  struct Hung {
    std::shared_ptr<Operation> op;
    bool holds_worker = false;  ///< The driver function has not returned.
  };

  void clerk();
  void work();
  void call(Operation& op) HOSTLER_EXCLUDES(mutex_);
  /// \return when the next one is due.
  std::optional<SteadyTime> fire_deadlines();
  bool finished() const;
  void time_is_up(Operation& op) HOSTLER_REQUIRES(mutex_);
  void give_up(Operation& op) HOSTLER_REQUIRES(mutex_);
  void release(Operation& op) HOSTLER_REQUIRES(mutex_);  // from active_ to the clerk
  void refuse_queued(const model::CloudError& error) HOSTLER_REQUIRES(mutex_);
  void retire(const std::shared_ptr<Operation>& op);
  [[nodiscard]] std::size_t hung_workers() const HOSTLER_REQUIRES(mutex_);

  const Options options_;

  mutable Mutex mutex_;
  Condition worker_wakes_, worker_left_;
  CallQueue queue_ HOSTLER_GUARDED_BY(mutex_);
  std::unordered_map<Operation*, Active> active_ HOSTLER_GUARDED_BY(mutex_);  // not over
  std::unordered_map<Operation*, Hung> hung_ HOSTLER_GUARDED_BY(mutex_);      // given up on
  std::set<std::pair<SteadyTime, Operation*>> alarms_ HOSTLER_GUARDED_BY(mutex_);
  Mailbox mailbox_;  // the clerk's; its lock is the innermost
  /// Kept a while: late misuse is noticed, not UB.
  std::deque<std::shared_ptr<Operation>> retired_ HOSTLER_GUARDED_BY(mutex_);
  std::size_t workers_ HOSTLER_GUARDED_BY(mutex_) = 0;
  std::size_t idle_ HOSTLER_GUARDED_BY(mutex_) = 0;
  SetHealth health_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread clerk_;
};

}  // namespace hostler::plugin_host

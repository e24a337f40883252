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
#include "core/plugin_host/operation.h"
#include "core/plugin_host/serial_gate.h"
#include "core/plugin_host/task_queue.h"

namespace hostler::plugin_host {

/// Runs the calls of one set. Worker threads call the driver. One completion thread watches the
/// deadlines and delivers the results. A worker that hangs in the driver keeps its slot, so that
/// the driver never sees more concurrent calls than it allows (R35).
///
/// Threads: any; start() and stop() once each, and stop() not on the completion thread. Lifetime:
/// held by a shared_ptr, of which each worker has a copy, also a worker that hangs.
class CallRunner final : public Operation::Listener,
                         public std::enable_shared_from_this<CallRunner> {
 public:
  struct Options {
    std::string log_area;               ///< Of what is logged about the set.
    std::uint32_t abi_minor = 0;        ///< Of the driver.
    std::size_t slots = 1;              ///< Calls in the driver at once.
    std::size_t queue_max = 0;          ///< Calls that wait for a slot; more are refused.
    Duration grace{};                   ///< From a call's cancel until it is abandoned.
    SerialGate* serial_gate = nullptr;  ///< Of a library that allows one call in the process.
  };

  explicit CallRunner(Options options);
  void start();
  /// Cancels all calls, delivers all results, and ends the threads. Blocks for the grace time at
  /// most. True if no call is left in the driver: then the set can be closed.
  bool stop();

  /// Queues the call. It ends as DriverSet's comment says.
  void submit(std::shared_ptr<Operation> op, Duration timeout);
  /// Ends a call with `error` instead of sending it.
  void refuse(std::shared_ptr<Operation> op, model::CloudError error);
  /// Runs `task` on the completion thread, after the results that were queued before.
  void post(TaskQueue::Task task) { completions_.post(std::move(task)); }
  /// Lowers the number of calls in the driver at once.
  void lower_slots(std::size_t slots);

  [[nodiscard]] SetHealth health() const;

  void on_ended(Operation& op) override;
  void on_late_return(Operation& op) override;
  void on_broken_rule(const Operation& op, const std::string& rule) override;
  [[nodiscard]] const std::string& log_area() const override { return options_.log_area; }

 private:
  struct Active {
    std::shared_ptr<Operation> op;
    SteadyTime due;  ///< Its entry in deadlines_: first the call's deadline, then the grace time's.
  };
  struct Hung {
    std::shared_ptr<Operation> op;
    bool holds_worker = false;  ///< The driver function has not returned.
  };

  void run_worker();
  void call(Operation& op) HOSTLER_EXCLUDES(mutex_);
  void run_completions();
  [[nodiscard]] bool has_finished() const;
  std::optional<SteadyTime> apply_deadlines();
  void on_deadline(Operation& op) HOSTLER_REQUIRES(mutex_);
  void abandon(Operation& op) HOSTLER_REQUIRES(mutex_);
  void queue_result(Operation& op) HOSTLER_REQUIRES(mutex_);
  void refuse_queued(const model::CloudError& error) HOSTLER_REQUIRES(mutex_);
  void retire(std::shared_ptr<Operation> op) HOSTLER_REQUIRES(mutex_);
  [[nodiscard]] std::size_t hung_workers() const HOSTLER_REQUIRES(mutex_);

  const Options options_;

  mutable Mutex mutex_;
  Condition worker_wakes_, worker_left_;
  CallQueue queue_ HOSTLER_GUARDED_BY(mutex_);
  /// Calls that are not over, in the queue or in the driver.
  std::unordered_map<Operation*, Active> active_ HOSTLER_GUARDED_BY(mutex_);
  /// Calls that were abandoned and that the driver has not ended yet.
  std::unordered_map<Operation*, Hung> hung_ HOSTLER_GUARDED_BY(mutex_);
  std::set<std::pair<SteadyTime, Operation*>> deadlines_ HOSTLER_GUARDED_BY(mutex_);
  /// The last calls that ended. A driver that uses one too late finds it, and breaks a rule.
  std::deque<std::shared_ptr<Operation>> retired_ HOSTLER_GUARDED_BY(mutex_);
  std::size_t workers_ HOSTLER_GUARDED_BY(mutex_) = 0;
  std::size_t idle_ HOSTLER_GUARDED_BY(mutex_) = 0;  ///< Workers that wait for a call.
  SetHealth health_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  TaskQueue completions_;  ///< Of the completion thread. Its lock is taken last.
  std::thread completion_thread_;
};

}  // namespace hostler::plugin_host

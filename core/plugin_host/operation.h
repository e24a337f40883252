#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mutex.h"
#include "core/model/cloud.h"
#include "core/plugin_host/cancel_function.h"
#include "core/plugin_host/outcome.h"
#include "core/plugin_host/record_intake.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

using SteadyTime = std::chrono::steady_clock::time_point;

/// One call of a driver function, with the callbacks of hostler_op that the driver uses during it.
/// Knows when the call is over, and checks that the driver keeps the rules on ends (R26, R45). The
/// other parts check theirs: RecordIntake, CancelFunction, Outcome. The derived classes (calls.h)
/// add the request and the result of each driver function.
///
///   created -> run() -> over: the function returned, or complete() was called after PENDING
///          \-> refused: not sent to the driver
///          \-> abandoned: the host waits no longer; the driver may still return later
///
/// Threads: the driver's callbacks on any thread, several at once; run() on one thread; the other
/// functions as they say. Lifetime: until deliver_result() has returned and the driver uses the
/// operation no more, see Listener::on_late_return().
class Operation : public hostler_op, public std::enable_shared_from_this<Operation> {
 public:
  /// Gets the events of operations. Called on any thread, also the driver's, with no lock of the
  /// operation held.
  class Listener {
   public:
    /// The call is over: deliver_result() may be called. Once, but never for a call that was
    /// refused or abandoned.
    virtual void on_ended(Operation& op) = 0;
    /// The driver has ended a call that was abandoned before.
    virtual void on_late_return(Operation& op) = 0;
    /// The driver broke a rule, during this call or after its end. May not call the operation.
    virtual void on_broken_rule(const Operation& op, const std::string& rule) = 0;
    /// Where log lines about the operation come from. Any thread.
    [[nodiscard]] virtual const std::string& log_area() const {
      static const std::string kNone = "driver";
      return kNone;
    }

   protected:
    ~Listener() = default;
  };

  /// Properties of a driver function.
  struct Traits {
    model::CloudOp kind = model::CloudOp::kOther;
    const char* name = "";       ///< Of the function, for messages.
    bool may_pend = true;        ///< The driver may return PENDING.
    bool must_pend = false;      ///< It lasts: OK through complete() only, when its time is over.
    bool changes_cloud = false;  ///< After a failure the cloud may have changed.
    bool urgent = false;         ///< May use the slot that is reserved for urgent calls.
  };

  /// `driver` and `listener` must outlive the operation.
  Operation(const Traits& traits, const std::string& driver, Listener& listener);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation();

  [[nodiscard]] const Traits& traits() const { return traits_; }
  [[nodiscard]] SteadyTime deadline() const { return deadline_; }
  /// For log lines: "create h-7". Any thread.
  [[nodiscard]] virtual std::string label() const { return traits_.name; }
  [[nodiscard]] const std::string& log_area() const { return log_area_; }
  /// Before run(). The driver sees the deadline too.
  void set_deadline(SteadyTime deadline);

  /// Calls the driver on this thread. Blocks as long as the driver does.
  void run();
  /// Asks the driver to end the call: at its deadline (`time_is_up`), or because the set closes.
  /// Any thread; does not block.
  void cancel(bool time_is_up);
  /// Ends a call that was not sent. False if it is over already. Any thread.
  bool refuse(model::CloudError reason);
  /// Ends a call that the driver does not end. Blocks while the driver emits a record. False if the
  /// call is over already. Any thread.
  bool abandon(std::string_view reason);
  /// The minor version of the ABI that knows all that the request says: an older driver is not
  /// asked. More than 0 only with a flag, a value or a function that came after 1.0.
  [[nodiscard]] virtual std::uint32_t minor_needed() const { return 0; }
  /// Whether the driver function is running. Any thread.
  [[nodiscard]] bool in_function();
  /// Whether the driver may touch the operation no more. Any thread.
  [[nodiscard]] bool has_ended();

  /// The driver broke a rule, "R29: ...": the call fails, if it is not over yet. Any thread.
  void report_broken_rule(std::string rule);
  /// The same if there is one: false. True if `rule` is empty.
  [[nodiscard]] bool keeps_rules(std::string rule);

  /// The driver died in this call: the error says how. Before complete(); any thread.
  void set_crash(model::DriverCrash crash);

  // What the driver does with the operation, or another process reports of it. Any thread.

  void report_text(std::uint32_t field, const char* s, std::size_t n);
  /// False: the driver is to stop.
  bool report_record(const hostler_rec* record);
  void report_end(hostler_status status);

  /// Passes the result to the caller. Once, after the call is over; any thread.
  void deliver_result() HOSTLER_NO_THREAD_SAFETY_ANALYSIS;

 protected:
  /// Calls the driver function.
  virtual hostler_status call_driver() = 0;
  /// Takes a record; its struct_size is legal. False if the driver should stop, as after
  /// report_broken_rule(). One call at a time, on the driver's threads.
  virtual bool take_record(const hostler_rec& record) = 0;
  /// The rule that a success without further records breaks, "R28: ..."; empty if none.
  virtual std::string rule_broken_by_success() { return {}; }
  /// Whether the operation is known to have had an effect in the cloud.
  [[nodiscard]] virtual bool effect_seen() const { return false; }
  virtual void deliver(std::optional<model::CloudError> failure) = 0;

  /// How the driver ended the call, unjudged.
  struct Ending {
    hostler_status status = HOSTLER_OK;
    const hostler_error& error;
    const std::vector<std::string>& texts;  ///< By HOSTLER_TEXT_*, or empty.
    const std::string& broken_rule;         ///< "R29: ..."; empty: none.
  };
  /// In place of deliver_result(), once, where another process judges the end.
  [[nodiscard]] Ending ending() const HOSTLER_NO_THREAD_SAFETY_ANALYSIS;

 private:
  static void driver_sets_text(hostler_error* e, std::uint32_t field, const char* s, std::size_t n);
  static std::int32_t driver_asks_cancelled(const hostler_op* op);
  static void driver_registers_cancel(hostler_op* op, void (*fn)(void*), void* arg);
  static std::int32_t driver_emits(hostler_op* op, const hostler_rec* record);
  static void driver_completes(hostler_op* op, hostler_status status);
  /// The operation at the address, which a driver has handed to `function`. Null: there is none,
  /// and the log says so.
  static std::shared_ptr<Operation> live(const void* address, const char* function);

  void register_cancel(void (*fn)(void*), void* arg);
  bool accept(const hostler_rec* record, std::string& rule);
  hostler_status call_guarded();
  void end_of_function(hostler_status returned) HOSTLER_REQUIRES(mutex_);
  [[nodiscard]] bool is_too_early_for(hostler_status status) const;
  bool end_by_host(model::CloudError reason, bool abandoned);
  bool end_by_driver() HOSTLER_REQUIRES(mutex_);
  void notify(bool was_abandoned);

  struct Progress {
    bool in_function = false;
    bool completed = false;  ///< The driver has reported its status.
    bool over = false;       ///< Ended by the driver or by the host.
    bool abandoned = false;  ///< By the host, while the driver may still go on.
  };

  const Traits traits_;
  const std::string& driver_;
  Listener& listener_;
  const std::string log_area_;  ///< Of the listener, which a late line of log may outlive.
  SteadyTime deadline_{}, began_{};
  hostler_error error_{};

  Mutex mutex_;
  std::atomic<bool> cancelled_ = false;  ///< Written with the mutex held.
  bool time_is_up_ HOSTLER_GUARDED_BY(mutex_) = false;
  Progress progress_ HOSTLER_GUARDED_BY(mutex_);
  CancelFunction cancel_function_ HOSTLER_GUARDED_BY(mutex_);
  RecordIntake records_ HOSTLER_GUARDED_BY(mutex_);
  Outcome outcome_ HOSTLER_GUARDED_BY(mutex_);
  std::unique_ptr<model::DriverCrash> crash_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::plugin_host

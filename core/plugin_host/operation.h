#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/model/cloud.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

using SteadyTime = std::chrono::steady_clock::time_point;

/// What a driver may send in one operation; said to it in hostler_host.
inline constexpr std::uint64_t kRecordsMax = 100'000;
inline constexpr std::uint64_t kRecordBytesMax = std::uint64_t{256} << 10U;
inline constexpr std::size_t kErrorTextMax = 4096;

inline model::CloudError cloud_error(model::CloudErrorClass cls, std::string message,
                                     bool outcome_unknown = false) {
  model::CloudError error;
  error.cls = cls;
  error.message = std::move(message);
  error.outcome_unknown = outcome_unknown;
  return error;
}

/// The host's side of one hostler_op: hands the driver its callbacks, watches that it keeps the
/// rules (R22, R26 to R29), and knows when the call is over. One for each call; what is asked and
/// what comes back is in the derived classes (calls.h).
///
///   made -> run() -> over: the function returned, or complete() was called after PENDING
///        \-> refused: never ran            \-> abandoned: given up on; the driver may come back
///
/// Threads: the callbacks on any, several at once; run() on one; the rest as said. The object must
/// live until the driver has let go of it, see came_back().
class Operation : public hostler_op, public std::enable_shared_from_this<Operation> {
 public:
  /// Who is told how it goes. Called from any thread, driver's among them, with no lock held.
  class Owner {
   public:
    /// The call is over: settle() may be called. Once, unless refused or abandoned.
    virtual void ended(Operation& op) = 0;
    /// An abandoned call is out of the driver at last.
    virtual void came_back(Operation& op) = 0;
    /// A rule was broken, in this call or after its end. May not call the operation.
    virtual void broken_rule(const Operation& op, const std::string& rule) = 0;

   protected:
    ~Owner() = default;
  };

  /// How a call may end, beyond what its records say.
  struct Traits {
    model::CloudOp kind = model::CloudOp::kOther;
    const char* name = "";    ///< Of the function, for messages.
    bool may_pend = true;     ///< PENDING is legal.
    bool has_effect = false;  ///< After a failure the cloud may have changed.
    bool urgent = false;      ///< Has a lane of its own.
  };

  Operation(const Traits& traits, const std::string& driver, Owner& owner);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;

  [[nodiscard]] const Traits& traits() const { return traits_; }
  [[nodiscard]] SteadyTime deadline() const { return deadline_; }
  /// Before run(). CLOCK_MONOTONIC is what steady_clock reads.
  void set_deadline(SteadyTime deadline);

  /// Makes the call on this thread. Blocks for as long as the driver does.
  void run();
  /// Wants the call to end: because its time is up, or because the set closes. The driver's cancel
  /// function runs on a thread of its own, so that a bad one delays nobody else.
  void cancel(bool time_is_up);
  /// Ends it from the host's side. False if it is over already.
  bool refuse(model::CloudError why);
  bool abandon(std::string_view why);
  /// Whether the driver's function is running.
  [[nodiscard]] bool in_function();

  /// Once, after it is over: builds the result and hands it to whoever asked.
  void settle();

 protected:
  /// The call itself.
  virtual hostler_status call() = 0;
  /// A record of the size that it says. False after broke(), if something is wrong with it.
  virtual bool take(const hostler_rec& record) = 0;
  /// What is missing of a success: "R28: ..."; empty if nothing is.
  virtual std::string missing() { return {}; }
  virtual void deliver(std::optional<model::CloudError> failure) = 0;

  void broke(std::string rule);
  /// Whether an instance is known to have come of it.
  bool effect_seen_ = false;

 private:
  using CancelFunction = void (*)(void*);
  class Taking;
  struct ErrorBlock : hostler_error {
    Operation* op = nullptr;
  };

  static void driver_sets_text(hostler_error* e, std::uint32_t field, const char* s, std::size_t n);
  static std::int32_t driver_asks_cancelled(const hostler_op* op);
  static void driver_registers_cancel(hostler_op* op, void (*fn)(void*), void* arg);
  static std::int32_t driver_emits(hostler_op* op, const hostler_rec* record);
  static void driver_completes(hostler_op* op, hostler_status status);

  /// Whether the driver should go on with more records; sets the rule that this one broke.
  bool accept(const hostler_rec* record, std::string& rule);
  void wait_for_cancel_function() HOSTLER_REQUIRES(mutex_);
  void run_cancel_function();
  hostler_status call_guarded();
  bool end_from_host(model::CloudError why, bool abandoned);
  bool end_from_driver() HOSTLER_REQUIRES(mutex_);
  void tell_owner(bool late);
  void wait_for_record() HOSTLER_REQUIRES(mutex_);
  // Of settle(), which is alone with what they read: once it is over, nobody else looks or writes.
  [[nodiscard]] bool cut_short() const HOSTLER_NO_THREAD_SAFETY_ANALYSIS {
    return stopped_ && !effect_seen_;
  }
  std::optional<model::CloudError> failure() HOSTLER_NO_THREAD_SAFETY_ANALYSIS;
  model::CloudError reported() HOSTLER_NO_THREAD_SAFETY_ANALYSIS;

  const Traits traits_;
  const std::string& driver_;
  Owner& owner_;
  SteadyTime deadline_{};
  ErrorBlock error_{};

  Mutex mutex_;
  Condition changed_;
  std::atomic<bool> cancelled_ = false;  ///< Written with the mutex held.
  bool time_is_up_ HOSTLER_GUARDED_BY(mutex_) = false;
  bool in_function_ HOSTLER_GUARDED_BY(mutex_) = false;
  bool taking_ HOSTLER_GUARDED_BY(mutex_) = false;     ///< A record, just now.
  bool stopped_ HOSTLER_GUARDED_BY(mutex_) = false;    ///< It was told to: records may be missing.
  bool completed_ HOSTLER_GUARDED_BY(mutex_) = false;  ///< The driver has said how it ended.
  bool over_ HOSTLER_GUARDED_BY(mutex_) = false;
  bool abandoned_ HOSTLER_GUARDED_BY(mutex_) = false;
  hostler_status status_ HOSTLER_GUARDED_BY(mutex_) = HOSTLER_PENDING;
  std::uint64_t records_ HOSTLER_GUARDED_BY(mutex_) = 0;
  std::string broken_ HOSTLER_GUARDED_BY(mutex_);  ///< The first broken rule; empty = none.
  // Of failures only, and so apart: most calls have none, and every call pays for its size.
  std::vector<std::string> texts_ HOSTLER_GUARDED_BY(mutex_);  ///< By HOSTLER_TEXT_*, or none.
  std::unique_ptr<model::CloudError> refusal_ HOSTLER_GUARDED_BY(mutex_);
  CancelFunction cancel_function_ HOSTLER_GUARDED_BY(mutex_) = nullptr;
  void* cancel_argument_ HOSTLER_GUARDED_BY(mutex_) = nullptr;
  bool cancel_running_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread::id cancel_thread_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::plugin_host

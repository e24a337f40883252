#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/mutex.h"
#include "core/driver_host/parent/call_table.h"
#include "core/driver_host/parent/child_process.h"
#include "core/driver_host/parent/process_set.h"
#include "core/driver_host/parent/remote_connection.h"
#include "core/driver_host/parent/supervisor.h"
#include "core/driver_host/parent/wakeup.h"
#include "core/driver_host/wire/messages.h"
#include "core/plugin_host/driver_set.h"
#include "core/plugin_host/operation.h"

namespace hostler::driver_host {

/// The calls of one set and the state of its driver's processes: takes calls, decides which process
/// gets each, and keeps those that are over until their results are delivered. A call is sent on
/// the thread that makes it, so that no call waits for a hand-over.
///
/// Ownership: it owns the calls until they are over, and has a share in the running processes, to
/// send to them. ProcessLoop, which must have ended before this object goes, does the rest.
/// Threads: any, except what is for ProcessLoop. One mutex guards all; an operation's mutex may be
/// locked while it is held, never the other way round. No operation runs and no callback of a
/// caller is called while it is held.
class DriverProcess final : public plugin_host::Operation::Listener, public Sender {
 public:
  using Op = CallTable::Op;
  using Ops = std::vector<Op>;
  /// Makes a call that opens the set in a new process.
  using MakeOpen = std::function<Op()>;

  /// `library`: the path of the driver's library, for messages.
  DriverProcess(const std::string& driver, const std::string& library, ProcessOptions options);

  /// Opens the set by the call `op`. If its process ends later, calls of `make_open` open it again.
  void open(Op op, Duration timeout, MakeOpen make_open);
  /// The outcome of the last open.
  void on_open_ended(bool opened);
  void submit(Op op, Duration timeout);
  void refuse(Op op, model::CloudError error);
  void set_slots(std::size_t slots);
  /// Cancels all calls, and has the set closed and the processes ended once the calls are over.
  void stop();

  [[nodiscard]] const std::shared_ptr<RemoteConnection>& connection() const { return connection_; }
  [[nodiscard]] const ProcessOptions& options() const { return options_; }
  [[nodiscard]] std::size_t driver_slots() const;
  [[nodiscard]] plugin_host::SetHealth health() const;

  void on_ended(plugin_host::Operation& op) override;
  void on_late_return(plugin_host::Operation& /*op*/) override {}  // abandoned calls are forgotten
  void on_broken_rule(const plugin_host::Operation& op, const std::string& rule) override;
  [[nodiscard]] const std::string& log_area() const override { return area_; }
  hostler_status send(FrameType function, std::string body, hostler_op* op) override;

  // ---- for ProcessLoop: what is to be done
  [[nodiscard]] Wakeup& wakeup() { return wakeup_; }
  /// The calls that are over: their results are to be delivered.
  Ops take_results();
  [[nodiscard]] bool has_results() const;
  /// Cancels and abandons calls whose time has come. Returns those that are to be sent by run().
  Ops take_due(SteadyTime now);
  std::vector<Supervisor::Action> next_actions(SteadyTime now);
  /// The call that opens the set in this process, to be sent by run().
  Op take_open(ChildId child);
  /// When to look again, if nothing happens before. Nothing: never, all is over.
  std::optional<SteadyTime> next_look(SteadyTime now);

  // ---- for ProcessLoop: what has happened
  void on_started(std::shared_ptr<ChildProcess> process);
  /// `no_descriptors`: this process has none left.
  void on_not_started(ChildId child, const std::string& why, bool no_descriptors);
  void on_hello(ChildId child, const Hello& hello);
  void on_pong(ChildId child);
  void on_outdated(ChildId child);
  /// The driver's function has returned, and the call goes on. False: it is over already.
  bool on_returned(ChildId child, CallTable::Id call);
  /// The driver has ended the call. Null: it is over already.
  Op on_end(ChildId child, CallTable::Id call);
  void on_broken_rule(const std::string& text);
  /// The call that a record belongs to. Null: it is over.
  [[nodiscard]] Op find(ChildId child, CallTable::Id call) const;

  struct Exit {
    std::string how;            ///< "was ended by signal 11 (Segmentation fault)"
    CallTable::Id in_call = 0;  ///< The call that has ended it; 0: not known.
    bool in_close = false;      ///< It should have closed its set, and has not.
    std::string last_output;
    bool was_told = false;    ///< hostlerd has ended it, for the reason in `how`.
    bool was_killed = false;  ///< By SIGKILL, which says nothing about its calls.
  };
  /// Calls that are lost with a process, and why.
  struct Lost {
    Ops calls;
    std::string why;
    Op guilty;                 ///< The call that the driver died in; null: not known.
    model::DriverCrash crash;  ///< With `guilty`.
  };
  Lost on_exit(ChildId child, Exit exit);

 private:
  /// How the set is opened.
  struct Opening {
    Op first;  ///< Waits for a process.
    MakeOpen make;
    ChildId child = 0;  ///< In which the last open is.
  };
  /// What the driver's table says.
  struct Table {
    std::size_t slots = 1;
    std::uint32_t abi_minor = 0;
  };

  void apply_deadline(const Op& op, CallTable::Due what) HOSTLER_REQUIRES(mutex_);
  /// The driver does not end the call; `after` its cancel its process is killed.
  void abandon(const Op& op, ChildId child, Duration after) HOSTLER_REQUIRES(mutex_);
  [[nodiscard]] std::optional<model::CloudError> refusal(SteadyTime now) HOSTLER_REQUIRES(mutex_);
  [[nodiscard]] std::string state(SteadyTime now) const HOSTLER_REQUIRES(mutex_);
  [[nodiscard]] Op guilty_of(ChildId child, const Exit& exit, const Op& loading)
      HOSTLER_REQUIRES(mutex_);
  Ops take_sendable() HOSTLER_REQUIRES(mutex_);

  const std::string area_;
  const ProcessOptions options_;
  const std::shared_ptr<RemoteConnection> connection_;
  Wakeup wakeup_;

  mutable Mutex mutex_;
  Supervisor supervisor_ HOSTLER_GUARDED_BY(mutex_);
  CallTable calls_ HOSTLER_GUARDED_BY(mutex_);
  std::unordered_map<ChildId, std::shared_ptr<ChildProcess>> processes_ HOSTLER_GUARDED_BY(mutex_);
  Ops results_ HOSTLER_GUARDED_BY(mutex_);
  Opening opening_ HOSTLER_GUARDED_BY(mutex_);
  Table table_ HOSTLER_GUARDED_BY(mutex_);
  /// Why the last process was not started; empty: it was.
  std::string start_problem_ HOSTLER_GUARDED_BY(mutex_);
  plugin_host::SetHealth health_ HOSTLER_GUARDED_BY(mutex_);
  SteadyTime looks_at_ HOSTLER_GUARDED_BY(mutex_);  ///< When ProcessLoop wakes by itself.
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
};

}  // namespace hostler::driver_host

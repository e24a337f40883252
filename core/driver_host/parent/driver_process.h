#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/base/mutex.h"
#include "core/driver_host/parent/call_table.h"
#include "core/driver_host/parent/child_process.h"
#include "core/driver_host/parent/output_lines.h"
#include "core/driver_host/parent/process_set.h"
#include "core/driver_host/parent/remote_connection.h"
#include "core/driver_host/parent/supervisor.h"
#include "core/driver_host/wire/messages.h"
#include "core/plugin_host/driver_set.h"
#include "core/plugin_host/operation.h"

namespace hostler::driver_host {

/// The processes of one set's driver and the calls in them. One thread reads what they send,
/// applies deadlines, delivers results, and does what Supervisor decides; a call is sent on the
/// thread that makes it, so that no call waits for a hand-over.
///
/// Threads: any, but start() and stop() once each, and stop() not on its thread.
class DriverProcess final : public plugin_host::Operation::Listener, public Sender {
 public:
  /// Makes a call that opens the set in a new process.
  using MakeOpen = std::function<CallTable::Op()>;

  DriverProcess(const std::string& driver, plugin_host::LibraryFile library,
                ProcessOptions options);
  ~DriverProcess();

  /// Opens the set by the call `op`. If its process ends later, calls of `make_open` open it again.
  void open(CallTable::Op op, Duration timeout, MakeOpen make_open);
  /// The outcome of the last open.
  void on_open_ended(bool opened);
  void submit(CallTable::Op op, Duration timeout);
  void refuse(CallTable::Op op, model::CloudError error);
  void set_slots(std::size_t slots);
  /// Cancels all calls, delivers all results, closes the set and ends the processes.
  void stop();

  [[nodiscard]] const std::shared_ptr<RemoteConnection>& connection() const { return connection_; }
  [[nodiscard]] std::size_t driver_slots() const;
  [[nodiscard]] plugin_host::SetHealth health() const;

  void on_ended(plugin_host::Operation& op) override;
  void on_late_return(plugin_host::Operation& /*op*/) override {}  // abandoned calls are forgotten
  void on_broken_rule(const plugin_host::Operation& op, const std::string& rule) override;
  [[nodiscard]] const std::string& log_area() const override { return area_; }
  hostler_status send(FrameType function, std::string body, hostler_op* op) override;

 private:
  struct Child {
    std::shared_ptr<ChildProcess> process;
    OutputLines output;
    Hello hello;
    std::optional<Crash> crash;      ///< What it has said of its end.
    CallTable::Id crashed_call = 0;  ///< 0: of none.
    std::string why_ended;  ///< "was killed: R31: list hangs"; empty: not known before its end.
    bool has_ended = false;
  };
  using Children = std::unordered_map<ChildId, Child>;
  using Sendable = std::vector<CallTable::Op>;

  // On its thread.
  void run();
  void act(SteadyTime now, Sendable& to_run);
  void act(const Supervisor::Start& start);
  void act(const Supervisor::Open& open, Sendable& to_run);
  void poll_children(std::optional<SteadyTime> until);
  void read_frames(Child& child);
  void on_frame(Child& child, const Frame& frame);
  void on_record(Child& child, const Frame& frame);
  void on_end(Child& child, const Frame& frame);
  void on_hello(Child& child, const Frame& frame);
  void on_child_ended(Child& child);
  void apply_deadlines(SteadyTime now) HOSTLER_REQUIRES(mutex_);
  void deliver_results();
  [[nodiscard]] std::optional<SteadyTime> wakes_at() HOSTLER_REQUIRES(mutex_);

  void count_broken_rule(const std::string& text) HOSTLER_REQUIRES(mutex_);
  [[nodiscard]] std::optional<model::CloudError> refusal(SteadyTime now) HOSTLER_REQUIRES(mutex_);
  [[nodiscard]] std::string state(SteadyTime now) const HOSTLER_REQUIRES(mutex_);
  Sendable take_sendable() HOSTLER_REQUIRES(mutex_);
  void wake();

  const std::string driver_, area_;
  const plugin_host::LibraryFile library_;
  const ProcessOptions options_;
  const std::shared_ptr<RemoteConnection> connection_;
  UniqueFd wake_;

  mutable Mutex mutex_;
  Supervisor supervisor_ HOSTLER_GUARDED_BY(mutex_);
  CallTable calls_ HOSTLER_GUARDED_BY(mutex_);
  std::unordered_map<ChildId, std::shared_ptr<ChildProcess>> processes_ HOSTLER_GUARDED_BY(mutex_);
  std::vector<CallTable::Op> results_ HOSTLER_GUARDED_BY(mutex_);
  CallTable::Op first_open_ HOSTLER_GUARDED_BY(mutex_);  ///< Waits for a process.
  MakeOpen make_open_ HOSTLER_GUARDED_BY(mutex_);
  ChildId opening_ HOSTLER_GUARDED_BY(mutex_) = 0;
  plugin_host::SetHealth health_ HOSTLER_GUARDED_BY(mutex_);
  std::size_t driver_slots_ HOSTLER_GUARDED_BY(mutex_) = 1;
  std::uint32_t abi_minor_ HOSTLER_GUARDED_BY(mutex_) = 0;  ///< Of the driver.
  SteadyTime thread_wakes_at_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;

  /// The call whose record came last.
  struct RecordOf {
    CallTable::Id call = 0;
    CallTable::Op op;  ///< Null: the call is over.
    bool has_parts = false;
    std::string parts;
  };

  // Of its thread.
  Children children_;
  RecordOf record_of_;
  std::string buffer_;
  std::thread thread_;
};

}  // namespace hostler::driver_host

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/base/files.h"
#include "core/base/mutex.h"
#include "core/driver_host/child/outlet.h"
#include "core/driver_host/child/process_state.h"
#include "core/driver_host/child/relayed_call.h"
#include "core/plugin_host/connection.h"

namespace hostler::driver_host {

/// Runs the calls that hostlerd sends, in the process of a driver. Each worker waits for a call on
/// the socket of calls and runs it, so that no call is handed from thread to thread; the kernel
/// gives a message to one of them. hostlerd sends no more calls at once than there are workers.
///
/// The thread of run() reads the socket of control, which never waits for the driver.
class Server final : public plugin_host::Operation::Listener {
 public:
  /// `workers_max`: how many functions of the driver may run at once. `is_outdated`: whether
  /// another process is to take the place of this one; asked with each ping. `why_ended`: why this
  /// process is to end now; empty: it goes on. Asked each second.
  Server(std::shared_ptr<plugin_host::Connection> connection, const Outlet& outlet,
         UniqueFd control, std::size_t workers_max, std::function<bool()> is_outdated,
         std::function<std::string()> why_ended);

  /// Returns when hostlerd has said that the set is to be closed, and it is. If hostlerd is gone,
  /// the process ends.
  void run();

  void on_ended(plugin_host::Operation& op) override;
  void on_late_return(plugin_host::Operation& /*op*/) override {}  // no call is abandoned here
  void on_broken_rule(const plugin_host::Operation& op, const std::string& rule) override;

 private:
  void start_worker() HOSTLER_REQUIRES(mutex_);
  void run_worker();
  void run_call(const Frame& frame, const UniqueFd& file);
  void refuse_call(std::uint64_t call, const std::string& why) const;
  void report_changes();
  void wait_for_control() const;
  [[nodiscard]] bool is_active(std::uint64_t call);
  void on_control(const Frame& frame);
  void cancel(std::uint64_t call, bool time_is_up);
  void close_set();

  const std::shared_ptr<plugin_host::Connection> connection_;
  const Outlet& outlet_;
  const UniqueFd control_;
  const std::size_t workers_max_;
  ProcessState state_ HOSTLER_GUARDED_BY(state_mutex_);
  bool has_descriptors_ HOSTLER_GUARDED_BY(state_mutex_) = true;
  const std::function<bool()> is_outdated_;
  const std::function<std::string()> why_ended_;

  Mutex state_mutex_;
  Mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<RelayedCall>> active_
      HOSTLER_GUARDED_BY(mutex_);
  /// The last calls that ended. A driver that uses one too late finds it, and breaks a rule.
  std::deque<std::shared_ptr<RelayedCall>> retired_ HOSTLER_GUARDED_BY(mutex_);
  /// Cancels of calls that have not come yet, or have ended: whether their time was up.
  std::map<std::uint64_t, bool> early_cancels_ HOSTLER_GUARDED_BY(mutex_);
  std::vector<std::thread> workers_ HOSTLER_GUARDED_BY(mutex_);
  std::size_t idle_ HOSTLER_GUARDED_BY(mutex_) = 0;  ///< Workers that wait for a call.
};

}  // namespace hostler::driver_host

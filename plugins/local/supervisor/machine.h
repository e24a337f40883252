#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fd.h"
#include "folder/instance_folder.h"

namespace hostler::local {

/// Exit statuses of the machine process.
constexpr int kMachineOff = 0;     ///< It was told to end, and all its processes have ended.
constexpr int kMachineNoSshd = 3;  ///< sshd ended too often.
constexpr int kMachineBroken = 4;  ///< Another error, described in the console log.

/// The inner process of the supervisor, which does the work of an init system: runs the user
/// data once, keeps sshd running, and reaps orphans. After SIGTERM it sends TERM to all
/// processes. When `life` hangs up, because the keeper has died, it ends with all its descendants.
class Machine {
 public:
  Machine(const InstanceFolder& folder, const BootPlan& plan, const std::string& boot_id,
          driver::Fd life);

  /// Returns the exit status for the process. Remaining descendants are killed by the kernel in a
  /// pid namespace; otherwise by the keeper, or by this process if the keeper has died.
  int run();

 private:
  using Time = std::int64_t;  // ms of CLOCK_MONOTONIC
  static constexpr Time kNever = INT64_MAX;

  void run_user_data();
  void start_sshd();
  void change_host_key();
  void reap();
  void on_sshd_end();
  void shut_down();
  void do_what_is_due();
  int poll_timeout() const;

  const InstanceFolder folder_;
  const BootPlan plan_;
  const std::vector<std::string> session_, environment_;
  const driver::Fd life_;
  driver::Fd signals_;

  pid_t user_data_ = -1;
  pid_t sshd_ = -1;
  Time sshd_since_ = 0;
  int quick_ends_ = 0;  ///< How often in a row sshd has ended soon after its start.

  Time sshd_due_ = kNever;
  Time key_change_due_ = kNever;
  Time kill_due_ = kNever;  ///< Not kNever: the machine is shutting down.
  int exit_status_ = -1;    ///< Not -1: run() returns it.
};

}  // namespace hostler::local

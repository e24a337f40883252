#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "folder/fd.h"
#include "folder/instance_folder.h"

namespace hostler::local {

/// How the machine's process ended by itself, as exit status.
constexpr int kMachineOff = 0;     ///< It was asked to end, and all its processes have.
constexpr int kMachineNoSshd = 3;  ///< sshd would not stay up.
constexpr int kMachineBroken = 4;  ///< Something else; the console says what.

/// The inner process of the supervisor: what an init system is to a machine. Runs the init command
/// once, keeps sshd up, reaps orphans. On SIGTERM it asks all to end. Ends with everything below it
/// when `life` is hung up, which says that the keeper died.
class Machine {
 public:
  Machine(const InstanceFolder& folder, const BootPlan& plan, const std::string& boot_id, Fd life);

  /// Returns an exit status for the process. In a pid namespace the kernel kills what is left below
  /// it; else the keeper does, or this does if the keeper is gone.
  int run();

 private:
  using Time = std::int64_t;  // ms of CLOCK_MONOTONIC
  static constexpr Time kNever = INT64_MAX;

  void start_init();
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
  const Fd life_;
  Fd signals_;

  pid_t init_ = -1;
  pid_t user_data_ = -1;
  pid_t sshd_ = -1;
  Time sshd_since_ = 0;
  int quick_ends_ = 0;  ///< How often in a row sshd did not live long.

  Time sshd_due_ = kNever;
  Time key_change_due_ = kNever;
  Time kill_due_ = kNever;  ///< Set: shutting down.
  int exit_status_ = -1;    ///< Set: run() is to return it.
};

}  // namespace hostler::local

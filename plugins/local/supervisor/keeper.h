#pragma once

#include <string>

#include "fd.h"
#include "folder/instance_folder.h"

namespace hostler::local {

/// The outer process of the supervisor. It holds the instance's lock, starts the machine process,
/// carries out the orders of the driver, and makes sure that no process is left when the machine
/// ends.
class Keeper {
 public:
  /// `lock` is the instance's lock. The keeper holds it until the process ends.
  Keeper(InstanceFolder folder, driver::Fd lock);

  /// Runs the machine from power on until it is off, has failed, or was destroyed with its folder.
  /// Returns the final state; kRunning means that it failed. When the state file says that the
  /// machine boots, writes a byte to `ready` and closes it; -1: there is no `ready`.
  Wanted run(int ready);

  /// Releases the lock. True: an order arrived at the last moment, and the lock was taken again.
  bool leave(Wanted done);

 private:
  struct Boot {
    pid_t pid = -1;
    driver::Fd life;  ///< A pipe; the machine sees a hang-up when this process ends.
  };

  void announce_boot();
  bool wait_for_boot_delay();
  bool start_machine();
  Boot fork_machine(bool namespaces, std::string& refusal);
  void wait_for_end();
  void stop_machine(bool graceful);
  bool reap_machine(bool wait);
  bool ordered_otherwise();
  bool poll_events(int timeout_ms);
  /// Sets the reason. It is written to the state file when all processes have ended.
  void fail(const std::string& reason);

  InstanceFolder folder_;
  driver::Fd lock_;
  driver::Fd control_, signals_;
  BootPlan plan_;
  State state_;
  Boot machine_;
  int machine_status_ = 0;
  bool told_to_end_ = false;  ///< By SIGTERM: this machine is being shut down.
};

}  // namespace hostler::local

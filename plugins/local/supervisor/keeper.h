#pragma once

#include <string>

#include "folder/fd.h"
#include "folder/instance_folder.h"

namespace hostler::local {

/// The outer process of the supervisor: it holds the instance's lock, starts the machine's process,
/// follows the driver's orders and sees to it that nothing is left when the machine ends.
class Keeper {
 public:
  /// `lock` is the instance's lock, held from here to the end of the process.
  Keeper(InstanceFolder folder, Fd lock);

  /// One life of the machine, from power on until it is off, failed or destroyed with its folder.
  /// Returns what became of it; kRunning means that it failed. Writes a byte to `ready` and closes
  /// it once the state says that it boots; -1 is none.
  Wanted run(int ready);

  /// Lets go of the lock. True: an order came in too late to be seen, and the lock is ours again.
  bool leave(Wanted done);

 private:
  struct Boot {
    pid_t pid = -1;
    Fd life;  ///< The machine sees it hung up when this process is gone.
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
  void fail(const std::string& reason);  ///< Kept until all is over, then written.

  InstanceFolder folder_;
  Fd lock_;
  Fd control_, signals_;
  BootPlan plan_;
  State state_;
  Boot machine_;
  int machine_status_ = 0;
  bool told_to_end_ = false;  ///< SIGTERM: the system goes down.
};

}  // namespace hostler::local

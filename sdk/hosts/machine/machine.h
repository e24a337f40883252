#pragma once

#include <sys/types.h>

#include <string>

#include "sdk/drivers/fd.h"
#include "sdk/hosts/machine/boot.h"
#include "sdk/hosts/protocol/answer.h"

namespace hostler::machines {

/// One machine, as its keeper sees it: its first process and its console. Its destructor ends it,
/// and returns when no process of it is left. Threads: one.
class Machine {
 public:
  /// Starts it. Throws a Failure.
  Machine(BootPlan plan, std::int64_t created_ms);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Lets it boot, once its network is there.
  void go();

  /// Takes what the machine has printed. Call it when console_fd() is readable.
  void read_console();
  /// Takes its exit, if it has ended by itself. Call it after SIGCHLD.
  void reap();

  MachineRecord record() const;
  const CreateSpec& spec() const { return plan_.spec; }
  Tags& tags() { return tags_; }
  const std::string& console() const { return console_; }
  int console_fd() const { return console_pipe_.get(); }  ///< -1: it has ended
  pid_t pid() const { return pid_; }

 private:
  const BootPlan plan_;
  const std::int64_t created_ms_;
  Tags tags_;
  pid_t pid_ = -1;
  driver::Fd go_, console_pipe_;
  std::string console_;  ///< The last 64 KiB.
  bool listens_ = false;
};

}  // namespace hostler::machines

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/mutex.h"
#include "core/driver_host/parent/supervisor.h"
#include "core/driver_host/wire/child_arguments.h"
#include "core/driver_host/wire/frame.h"
#include "core/driver_host/wire/socket.h"
#include "core/plugin_host/library_file.h"

namespace hostler::driver_host {

/// The environment of a driver's process, "NAME=VALUE": what a driver may need to reach its cloud,
/// and nothing else of this process's.
std::vector<std::string> driver_environment();

struct ChildOptions {
  std::string program;  ///< hostler-driver-host.
  SandboxOptions sandbox = {};
  std::vector<std::string> cgroups = {};  ///< Folders of those that it enters.
};

/// The process of a driver, its sockets, and what it writes to its standard output and error.
///
/// Threads: start() and the destructor on one thread, since the kernel kills the process when the
/// thread that has started it ends; send() on any; the others on one thread. Nothing here blocks,
/// except that reap() and the destructor wait for a process that has been killed.
class ChildProcess {
 public:
  /// `library`: the driver's open files.
  static Result<std::shared_ptr<ChildProcess>> start(ChildId id, const ChildOptions& options,
                                                     const plugin_host::LibraryFile& library);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] ChildId id() const { return id_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// To be polled: frames, and output. POLLIN; the first also POLLOUT while has_backlog().
  [[nodiscard]] int frames_fd() const { return calls_.get(); }
  /// -1 once the process has closed it.
  [[nodiscard]] int output_fd() const { return output_.get(); }
  /// Readable once the process has ended, whoever else may hold its sockets. -1: the kernel has no
  /// such thing.
  [[nodiscard]] int end_fd() const { return end_.get(); }

  /// Sends a call. What the socket does not take at once waits for flush().
  void send_call(FrameType type, std::uint64_t call, std::string_view body);
  /// Sends kCancel, kPing or kClose. Dropped if the process has not read the ones before.
  void send_control(FrameType type, std::uint64_t call, std::string_view body) const;
  [[nodiscard]] bool has_backlog();
  void flush();

  /// One message of frames into `buffer`.
  Received receive(std::string& buffer) const;
  /// Reads output that is there; false at its end.
  bool read_output(std::string& into);

  /// With the processes that the driver has forked, unless they have left its group.
  void kill() const;
  struct End {
    std::string how;  ///< "was ended by signal 11 (Segmentation fault)", "has ended with status 1"
    int signal = 0;   ///< 0: none.
    bool is_clean = false;  ///< With status 0; or it was killed, maybe just before that.
  };
  /// Waits for the end of the process. Once.
  End reap();

 private:
  struct Waiting {
    std::string message;
    UniqueFd file;
  };
  ChildProcess(ChildId id, pid_t pid, UniqueFd calls, UniqueFd control, UniqueFd output);
  Sent send_now(const Waiting& waiting) const;

  const ChildId id_;
  const pid_t pid_;
  const UniqueFd calls_, control_;
  UniqueFd output_;
  const UniqueFd end_;
  bool reaped_ = false;
  Mutex mutex_;
  std::deque<Waiting> backlog_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::driver_host

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include "core/driver_host/parent/call_reports.h"
#include "core/driver_host/parent/child_process.h"
#include "core/driver_host/parent/driver_process.h"
#include "core/driver_host/parent/output_lines.h"
#include "core/driver_host/parent/process_cgroups.h"
#include "core/driver_host/parent/supervisor.h"
#include "core/driver_host/parent/unasked_frames.h"
#include "core/driver_host/wire/messages.h"
#include "core/plugin_host/library_file.h"

namespace hostler::driver_host {

/// The thread `driver-io` of one set: starts and ends the driver's processes as Supervisor decides,
/// waits for what they send, applies the deadlines of calls, and delivers results.
///
/// Ownership: it owns what it knows of the processes, and reports all else to DriverProcess, which
/// must outlive it. Threads: made and destroyed on any thread but its own; the rest runs on its
/// own. It has no lock: it calls functions of DriverProcess that lock, and callers' callbacks
/// without one.
class ProcessLoop {
 public:
  /// `driver`: its name, as in its manifest. Starts the thread.
  ProcessLoop(std::string driver, plugin_host::LibraryFile library, DriverProcess& set);
  /// Waits for the thread, which ends after DriverProcess::stop() once all calls are over.
  ~ProcessLoop();
  ProcessLoop(const ProcessLoop&) = delete;
  ProcessLoop& operator=(const ProcessLoop&) = delete;

 private:
  struct Child {
    std::shared_ptr<ChildProcess> process;
    ProcessCgroups::Place cgroups;
    OutputLines output;
    RecordReader records;
    UnaskedFrames unasked;
    std::optional<Crash> crash;      ///< What it has said of its end.
    CallTable::Id crashed_call = 0;  ///< 0: of none.
    std::string why_ended;    ///< "was killed: R31: list hangs"; empty: not known before its end.
    bool has_loaded = false;  ///< It has said which driver it is.
    bool is_outdated = false;
    bool is_closing = false;
    bool is_mad = false;     ///< It has sent nonsense: nothing of it is believed any more.
    bool is_dead = false;    ///< What it has sent is still to be read.
    bool has_ended = false;  ///< All of it has been read.
  };

  void run();
  void act(const Supervisor::Action& action);
  void start(ChildId id);
  void poll(SteadyTime until);
  void read_output(Child& child);
  void log_output(Child& child, std::string_view bytes);
  void read_frames(Child& child);
  void on_frame(Child& child, const Frame& frame);
  void on_unasked(Child& child, const Frame& frame, SteadyTime now);
  void on_log_line(Child& child, const Frame& frame, SteadyTime now);
  void on_record(Child& child, const Frame& frame);
  void on_end(Child& child, const Frame& frame);
  void on_hello(Child& child, const Frame& frame);
  void on_nonsense(Child& child);
  void on_child_ended(Child& child);
  void leave_cgroups(const ProcessCgroups::Place& place, std::string& how);

  const std::string driver_;
  const plugin_host::LibraryFile library_;
  DriverProcess& set_;
  std::unordered_map<ChildId, Child> children_;
  std::string buffer_;  ///< For one message.
  std::thread thread_;
};

}  // namespace hostler::driver_host

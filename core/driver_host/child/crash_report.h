#pragma once

#include <cstdint>

namespace hostler::driver_host {

/// Tells hostlerd, in the last moment, which call ends this process: handlers of the signals that a
/// defect raises, and of exit(). A driver's runtime may replace the handlers of signals; then only
/// the end of the process is seen. `socket`: of frames to hostlerd; stays open.
void report_crashes_to(int socket);

/// Whether a signal is handled as report_crashes_to() wants it, or is just ending this process.
bool reports_crash(int signal);

/// While this object lives, this thread runs the driver for one call.
class InCall {
 public:
  explicit InCall(std::uint64_t call);
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
};

/// Gives the calling thread a stack for signal handlers, for as long as the object lives: else a
/// defect that overflows the thread's own stack would not be reported.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  char* memory_;
};

}  // namespace hostler::driver_host

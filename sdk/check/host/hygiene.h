#pragma once

#include <cstddef>
#include <set>

#include "core/driver_host/child/process_state.h"
#include "sdk/check/run/findings.h"

namespace hostler::check {

/// Opens a socket to which nobody has a reason to write: bytes in it mean that the driver writes to
/// descriptors of others. To be called in the process of a test, before the driver is loaded.
void watch_descriptors();

/// What a driver must leave as it was: the state of the process, threads, descriptors, children
/// (R2, R37, R44).
///
/// Threads: one at a time.
class Hygiene {
 public:
  /// As it is now.
  Hygiene();

  /// After the library was loaded: it has done nothing yet (R2). A Go runtime is excused.
  void check_load(Findings& findings, bool is_go);
  /// What is there now was there before the first set.
  void begin_sets();
  /// While sets are open or after calls: what is not the driver's is as it was. A Go runtime takes
  /// the handlers of signals at some time after it was loaded, and is excused.
  void check_process(Findings& findings, const char* call, bool is_go);
  /// After set_close of the last set: threads and descriptors are as many as before.
  void check_closed(Findings& findings, bool is_go);

 private:
  driver_host::ProcessState state_;
  std::size_t threads_;
  std::set<int> descriptors_;
};

/// Descriptors that are open, without those of the kit.
std::set<int> open_descriptors();
/// Memory of this process that is in use, in bytes.
std::size_t resident_bytes();

}  // namespace hostler::check

#pragma once

#include <sys/types.h>

namespace hostler::cli {

/// While it exists, signals that would end this program are noted, and passed on to a child:
/// something is to be done after it. One that is ignored stays so. There is one at a time.
class EndSignals {
 public:
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  /// The last one that came since there is an object of this class; 0: none.
  [[nodiscard]] static int came();
  /// Until end_child(), which is called before the child is reaped. One that has come already is
  /// passed on too.
  static void set_child(pid_t child);
  static void end_child();
};

}  // namespace hostler::cli

#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace hostler::local {

/// A process, identified by pid and start time. Unlike a pid, this never names another process
/// later.
struct Process {
  pid_t pid = 0;
  unsigned long long start_ticks = 0;

  /// The process that has this pid now; pid 0 if there is none.
  static Process of(pid_t pid);
  /// Parses the result of text(); pid 0 for any other text.
  static Process parse(std::string_view text);
  std::string text() const;

  /// False if the process has ended, also if it is a zombie. (When the first process of a pid
  /// namespace is a zombie, no other process is left in the namespace.)
  bool runs() const;
};

}  // namespace hostler::local

#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace hostler::local {

/// A process by its number and its start time: unlike the number alone, never somebody else.
struct Process {
  pid_t pid = 0;
  unsigned long long start_ticks = 0;

  /// The process of that number as it is now; pid 0 if there is none.
  static Process of(pid_t pid);
  /// From text(); pid 0 for anything else.
  static Process parse(std::string_view text);
  std::string text() const;

  /// False once it is gone or a zombie. A zombie that was the first process of a pid namespace has
  /// left nobody in it.
  bool runs() const;
};

}  // namespace hostler::local

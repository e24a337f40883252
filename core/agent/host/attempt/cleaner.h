#pragma once

#include <sys/types.h>

#include <string>

namespace hostler::agent {

/// Removes folders without holding up the loop: what cannot go at once is renamed into trash/,
/// which a low-priority child empties.
class Cleaner {
 public:
  /// Makes the folder; what an earlier server left in it goes.
  void open();
  /// Removes a file or folder, soon; its name is free at once. False if it stays where it is.
  [[nodiscard]] bool discard(const std::string& path);
  /// True if `pid` was the child.
  bool on_exit(pid_t pid);
  [[nodiscard]] pid_t pid() const { return child_; }
  /// Starts the child if there is work for it.
  void tick();

 private:
  pid_t child_ = 0;
  bool work_ = false;
  unsigned long count_ = 0;
};

}  // namespace hostler::agent

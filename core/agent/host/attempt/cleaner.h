#pragma once

#include <sys/types.h>

#include <string>

namespace hostler::agent {

/// Removes folders without blocking the server: a folder that is not empty is renamed into trash/,
/// and a child process of low priority empties trash/.
class Cleaner {
 public:
  /// Creates trash/. Whatever an earlier server left there is removed, too.
  void open();
  /// Removes a file or folder, at once or later; its name is free at once. False: it could not be
  /// moved.
  [[nodiscard]] bool discard(const std::string& path);
  /// True if `pid` was the child. Call it for every child that was reaped.
  bool on_exit(pid_t pid);
  /// The child, or 0 if there is none.
  [[nodiscard]] pid_t pid() const { return child_; }
  /// Starts the child if trash/ may not be empty and no child runs.
  void tick();

 private:
  pid_t child_ = 0;
  bool has_work_ = false;
  unsigned long count_ = 0;
};

}  // namespace hostler::agent

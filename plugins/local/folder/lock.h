#pragma once

#include <optional>
#include <string>
#include <utility>

#include "folder/fd.h"

namespace hostler::local {

/// A lock on a file, let go when this ends. It belongs to the open descriptor and so to its copies
/// in children too, which matters twice: a program that is just being started by another thread has
/// a copy for a moment, hence it is let go by name and not by closing; and a process that is to
/// hold the lock together with its children, to the last of them, keeps the descriptor instead.
class Lock {
 public:
  explicit Lock(Fd fd) : fd_(std::move(fd)) {}
  Lock(Lock&&) = default;
  Lock& operator=(Lock&&) = delete;
  ~Lock();

  /// Leaves the lock to the descriptor: free once the last process that has it is gone.
  Fd keep() { return std::move(fd_); }

 private:
  Fd fd_;
};

// None of these creates the file.

/// The lock, if nobody has it. Throws on failures other than "taken" and "no such file" (nothing).
std::optional<Lock> try_lock(const std::string& path);
/// Waits for the lock at most `timeout_ms`; nothing once that has passed.
std::optional<Lock> lock_within(const std::string& path, int timeout_ms);
/// Whether somebody has it now. Does not touch the lock. False where there is no such file.
bool is_locked(const std::string& path);

}  // namespace hostler::local

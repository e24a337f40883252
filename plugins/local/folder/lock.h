#pragma once

#include <optional>
#include <string>
#include <utility>

#include "fd.h"

namespace hostler::local {

/// A lock on a file, released by the destructor. The lock belongs to the open file description,
/// which children share. This has two consequences. A program that another thread is starting has a
/// copy of the descriptor for a moment; so the destructor unlocks explicitly, and does not rely on
/// closing. And a process that wants to hold the lock together with its children calls keep().
class Lock {
 public:
  explicit Lock(driver::Fd fd) : fd_(std::move(fd)) {}
  Lock(Lock&&) = default;
  Lock& operator=(Lock&&) = delete;
  ~Lock();

  /// Gives up the object but not the lock: it is released when the last copy of the descriptor is
  /// closed.
  driver::Fd keep() { return std::move(fd_); }

 private:
  driver::Fd fd_;
};

// None of these functions creates the file.

/// Takes the lock. nullopt if another process holds it or the file does not exist. Throws on other
/// failures.
std::optional<Lock> try_lock(const std::string& path);
/// The same, but waits up to `timeout_ms` for the lock.
std::optional<Lock> lock_within(const std::string& path, int timeout_ms);
/// True if a process holds the lock now. Does not take it. False if the file does not exist.
bool is_locked(const std::string& path);

}  // namespace hostler::local

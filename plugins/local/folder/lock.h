#pragma once

#include <optional>
#include <string>

#include "folder/fd.h"

namespace hostler::local {

/// Locks on a file that belong to the open descriptor and its copies in children: a lock ends when
/// the last process that has it is gone, however it went. None of these creates the file.

/// The lock, if nobody has it. Throws on failures other than "taken" and "no such file" (nothing).
std::optional<Fd> try_lock(const std::string& path);
/// Waits for the lock at most `timeout_ms`; nothing once that has passed.
std::optional<Fd> lock_within(const std::string& path, int timeout_ms);
/// Whether somebody has it now. Does not touch the lock. False where there is no such file.
bool is_locked(const std::string& path);

}  // namespace hostler::local

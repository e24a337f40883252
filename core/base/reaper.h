#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

/// Programs that were killed and do not end: on a file system that hangs, or of another user.
namespace hostler {

/// Reaps a child once it has ended, on a thread of its own. `name`: of what runs in it. Any thread.
void reap_later(pid_t child, const std::string& name);
/// How many children of this name have not ended yet. Any thread.
[[nodiscard]] std::size_t unreaped(const std::string& name);

}  // namespace hostler

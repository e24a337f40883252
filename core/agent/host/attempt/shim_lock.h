#pragma once

#include <sys/types.h>

#include <cstdint>

/// Each shim locks one byte of the file shims.lock as long as it lives. A new server finds living
/// shims by these locks. They are record locks (fcntl): the kernel releases them when the process
/// ends, and also when the process closes *any* descriptor of the file.
namespace hostler::agent {

/// Locks byte `sequence`; false if another process holds it.
bool hold_shim_lock(int locks, std::uint64_t sequence);

/// The process that holds byte `sequence`; 0 if that shim has ended.
pid_t shim_pid(int locks, std::uint64_t sequence);

}  // namespace hostler::agent

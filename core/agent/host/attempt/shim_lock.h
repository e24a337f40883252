#pragma once

#include <sys/types.h>

#include <cstdint>

/// How a server finds the shims of the one before it: each holds a byte of one file as long as it
/// lives. A record lock, so it goes with the process, and when *any* descriptor of the file in that
/// process is closed.
namespace hostler::agent {

/// Takes byte `sequence`; false if another has it.
bool hold_shim_lock(int locks, std::uint64_t sequence);

/// The process that holds byte `sequence`, or 0: the shim of that number lives no more.
pid_t shim_pid(int locks, std::uint64_t sequence);

}  // namespace hostler::agent

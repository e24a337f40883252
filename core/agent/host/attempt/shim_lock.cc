#include "core/agent/host/attempt/shim_lock.h"

#include <fcntl.h>

namespace hostler::agent {
namespace {

struct flock byte_of(std::uint64_t sequence) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(sequence);
  lock.l_len = 1;
  return lock;
}

}  // namespace

bool hold_shim_lock(int locks, std::uint64_t sequence) {
  struct flock lock = byte_of(sequence);
  return ::fcntl(locks, F_SETLK, &lock) == 0;
}

pid_t shim_pid(int locks, std::uint64_t sequence) {
  struct flock lock = byte_of(sequence);
  if (::fcntl(locks, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid;
}

}  // namespace hostler::agent

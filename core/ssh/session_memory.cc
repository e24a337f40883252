#include "core/ssh/session_memory.h"

#include <malloc.h>

#include <cstdlib>
#include <cstring>

namespace hostler::ssh {
namespace {

/// libssh2 1.10 always reads 32 bytes of a host's ed25519 key, also if the host sent a shorter one,
/// and so reads past its allocation (fixed in 1.11). Each allocation gets this many bytes more.
constexpr std::size_t kSlack = 32;

}  // namespace

LIBSSH2_ALLOC_FUNC(SessionMemory::allocate) {
  auto* const made = static_cast<char*>(std::malloc(count + kSlack));
  if (made == nullptr) return nullptr;
  std::memset(made + count, 0, kSlack);
  of(abstract).held_ += ::malloc_usable_size(made);
  return made;
}

LIBSSH2_REALLOC_FUNC(SessionMemory::reallocate) {
  const std::size_t before = ::malloc_usable_size(ptr);
  void* const made = std::realloc(ptr, count + kSlack);
  if (made != nullptr) of(abstract).held_ += ::malloc_usable_size(made) - before;
  return made;
}

LIBSSH2_FREE_FUNC(SessionMemory::release) {
  of(abstract).held_ -= ::malloc_usable_size(ptr);
  std::free(ptr);
}

LIBSSH2_SESSION* SessionMemory::make_session() {
  static const int started = libssh2_init(0);
  LIBSSH2_SESSION* const session = libssh2_session_init_ex(allocate, release, reallocate, this);
  if (started != 0 || session == nullptr) std::abort();  // out of memory
  libssh2_session_set_blocking(session, 0);
  return session;
}

}  // namespace hostler::ssh

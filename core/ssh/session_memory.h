#pragma once

#include <libssh2.h>

#include <cstddef>

/// Private to core/ssh.
namespace hostler::ssh {

class Transport;

/// Makes a libssh2 session, and counts the bytes that libssh2 holds for it. libssh2 keeps what the
/// peer has sent until somebody reads it, and answers that nobody waits for as long as the session
/// lives: so a hostile peer can make this number grow.
///
/// Threads: the executor's one thread. Lifetime: part of a Transport; must outlive the session.
class SessionMemory {
 public:
  explicit SessionMemory(Transport& owner) : owner_(owner) {}
  SessionMemory(const SessionMemory&) = delete;
  SessionMemory& operator=(const SessionMemory&) = delete;

  /// A non-blocking session. The caller frees it. Ends the process if there is no memory.
  LIBSSH2_SESSION* make_session();
  [[nodiscard]] std::size_t held() const { return held_; }
  /// The transport of a session, of the "abstract" that libssh2 hands to callbacks.
  static Transport& owner_of(void** abstract) { return of(abstract).owner_; }

 private:
  static SessionMemory& of(void** abstract) { return *static_cast<SessionMemory*>(*abstract); }
  static LIBSSH2_ALLOC_FUNC(allocate);
  static LIBSSH2_REALLOC_FUNC(reallocate);
  static LIBSSH2_FREE_FUNC(release);

  Transport& owner_;
  std::size_t held_ = 0;
};

}  // namespace hostler::ssh

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/hosts/reach.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

/// The sessions at a jump host, and the rules which of them is asked for the next connection.
///
/// libssh2 opens one connection at a time in a session, and while a host does not answer, the
/// session can open no other. So a host is first tried in a session for tries, and only when it has
/// answered, the connection that lasts is opened in a shared session.
///
/// Hosts thread only.
class JumpLogins {
 public:
  using Clock = std::chrono::steady_clock;
  /// What a session is for.
  enum class Use : std::uint8_t {
    kShared,  ///< Carries the connections of hosts that answer.
    kTry,     ///< Tries hosts.
  };
  /// A host that has answered just now does so again within this time; whoever needs more gets no
  /// other host to wait.
  static constexpr auto kPrompt = std::chrono::milliseconds(250);

  /// A session that can open a connection now, which the caller asks for one at once. Null: none.
  /// `of`: the host to be tried.
  std::shared_ptr<ssh::Session> take(Use use, Reach::Standing of, Clock::time_point now);
  /// Whether another session of this use is worth a login: the existing ones will not be free soon.
  [[nodiscard]] bool may_add(Use use, Reach::Standing of, Clock::time_point now) const;
  void add(Use use, std::shared_ptr<ssh::Session> session);
  /// Forgets sessions that have ended, and those of no use: without a connection, and the server
  /// does not answer.
  void drop_ended();
  /// Ends the sessions for tries.
  void drop_tries();
  /// Ends all sessions, and so the connections of all hosts.
  void close();

 private:
  struct Login {
    std::shared_ptr<ssh::Session> session;
    Use use{};
    Reach::Standing of{};     ///< Of the host that it was asked for last.
    Clock::time_point asked;  ///< When that was.
  };
  [[nodiscard]] std::ptrdiff_t count(Use use) const;
  [[nodiscard]] bool may_try(Reach::Standing of) const;

  std::vector<Login> logins_;
};

}  // namespace hostler::hosts

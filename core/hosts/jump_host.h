#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/hosts/settings.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

/// The jump host of a set: a server that connects to the set's hosts for us, and passes on bytes.
/// It is trusted for nothing else: every host still proves itself over the connection.
///
/// libssh2 opens one connection at a time in a session, and a host that does not answer keeps the
/// session from opening others. So hosts that have not answered yet are tried in sessions of their
/// own, and move to a shared session once they do.
///
/// Hosts thread only. Coroutines of connect() need this object until they end.
class JumpHost : public std::enable_shared_from_this<JumpHost> {
 public:
  JumpHost(boost::asio::io_context& io, HostSettings::Proxy proxy, std::uint64_t seed);
  JumpHost(const JumpHost&) = delete;
  JumpHost& operator=(const JumpHost&) = delete;

  /// "jump host bastion.example:22"
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Connects through this server to the host of the request, and exchanges keys. `answers`: the
  /// last try has reached the host; updated. It must live until this ends.
  boost::asio::awaitable<Result<std::unique_ptr<ssh::Session>>> connect(ssh::ConnectRequest request,
                                                                        bool& answers);
  /// Ends all sessions, and so the connections of all hosts.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  /// What a session is for.
  enum class Use : std::uint8_t {
    kShared,  ///< Carries the connections of hosts that answer.
    kTry,     ///< Tries hosts that have not answered.
  };
  struct Lane {
    std::shared_ptr<ssh::Session> session;
    Use use{};
  };
  class Turn;

  using Opened = Result<std::unique_ptr<ssh::Tunnel>>;
  boost::asio::awaitable<Opened> open(ssh::TunnelRequest request, Use use, Clock::time_point until);
  /// A session that can open a connection now.
  boost::asio::awaitable<Result<std::shared_ptr<ssh::Session>>> lane(Use use,
                                                                     Clock::time_point until);
  void drop_ended();
  [[nodiscard]] std::shared_ptr<ssh::Session> find_free(Use use) const;
  /// Whether another session of this use is worth a login.
  [[nodiscard]] bool may_add(Use use) const;
  boost::asio::awaitable<Result<void>> add(Use use);
  boost::asio::awaitable<Result<std::shared_ptr<ssh::Session>>> log_in();
  void wake();
  /// Ends the sessions that try hosts when none was tried for a while.
  void end_tries_later();

  boost::asio::io_context& io_;
  const HostSettings::Proxy proxy_;
  const std::string name_;
  Random random_;
  std::vector<Lane> lanes_;
  boost::asio::steady_timer idle_;
  std::list<Turn*> turns_;  ///< Those who wait, the first one first.
  bool logging_in_ = false;
  unsigned failures_ = 0;  ///< Logins in a row.
  Clock::time_point next_login_;
  std::string problem_;  ///< Of the last login; empty: it succeeded.
  bool stopped_ = false;
};

}  // namespace hostler::hosts

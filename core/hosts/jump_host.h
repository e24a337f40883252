#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/base/random.h"
#include "core/hosts/jump_logins.h"
#include "core/hosts/jump_queue.h"
#include "core/hosts/settings.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

/// The jump host of a set: a server that connects to the set's hosts for us, and passes on bytes.
/// It is trusted for nothing else: every host still proves itself over the connection.
///
/// Hosts thread only. Coroutines of connect() need this object until they end.
class JumpHost : public std::enable_shared_from_this<JumpHost> {
 public:
  /// Called when nobody can log in at it any more, or the cause is another one: why; and with ""
  /// when it works again.
  using Tell = std::function<void(const std::string& problem)>;

  JumpHost(boost::asio::io_context& io, HostSettings::Proxy proxy, std::uint64_t seed, Tell tell);
  JumpHost(const JumpHost&) = delete;
  JumpHost& operator=(const JumpHost&) = delete;

  /// "jump host bastion.example:22"
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Connects through this server to the host of the request, and exchanges keys. `reach`: of
  /// earlier tries to the same host; updated. It must live until this ends.
  boost::asio::awaitable<Result<std::unique_ptr<ssh::Session>>> connect(ssh::ConnectRequest request,
                                                                        Reach& reach);
  /// Ends all sessions, and so the connections of all hosts.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  using Use = JumpLogins::Use;
  using SharedSession = std::shared_ptr<ssh::Session>;
  using Opened = Result<std::unique_ptr<ssh::Tunnel>>;

  boost::asio::awaitable<Opened> open(ssh::TunnelRequest request, Use use, Reach& reach,
                                      Clock::time_point until);
  /// A session that can open a connection now.
  boost::asio::awaitable<Result<SharedSession>> free_session(Use use, Reach reach,
                                                             Clock::time_point until);
  void begin_login(Use use);
  boost::asio::awaitable<Result<SharedSession>> log_in();
  void logged_in(Use use, Result<SharedSession> session);
  void set_problem(std::string problem);
  /// Ends the sessions that try hosts when none was tried for a while.
  void end_tries_later();

  boost::asio::io_context& io_;
  const HostSettings::Proxy proxy_;
  const std::string name_;
  const Tell tell_;
  const std::shared_ptr<ssh::NameResolver> names_ = std::make_shared<ssh::NameResolver>();
  Random random_;
  JumpLogins logins_;
  JumpQueue queue_;
  boost::asio::steady_timer idle_;
  bool logging_in_ = false;
  unsigned failures_ = 0;  ///< Logins in a row.
  Clock::time_point next_login_;
  std::string problem_;  ///< Of the last login; empty: it succeeded.
  bool stopped_ = false;
};

}  // namespace hostler::hosts

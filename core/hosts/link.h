#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/base/random.h"
#include "core/hosts/conversation.h"
#include "core/hosts/settings.h"

namespace hostler::hosts {

/// One host's link: connects, proves the host, probes it, puts the agent there, converses with it,
/// and begins anew with back-off when the connection ends. One connection at a time. Hosts thread
/// only; kept alive by its own coroutine until stop().
class Link : public std::enable_shared_from_this<Link> {
 public:
  Link(boost::asio::io_context& io, std::shared_ptr<const HostSettings> settings,
       std::shared_ptr<const HostPorts> ports, model::PoolPolicy pool, model::HostTarget target);

  void start();
  /// Nothing is posted afterwards.
  void stop();
  /// A new address or identity; a link to another address is dropped and made anew.
  void retarget(model::HostTarget target);
  void command(model::HostCommand command);
  const std::string& pool_name() const { return target_.pool; }
  /// Checks are told to the agent at once; the rest counts from the next connection on.
  void set_pool(model::PoolPolicy pool);

 private:
  using Step = boost::asio::awaitable<Result<void>>;

  boost::asio::awaitable<void> run();
  Step connect_once();
  /// Judges the key that was shown and, where that needs it, asks driver or host.
  Step prove(ssh::Session& session);
  boost::asio::awaitable<Result<bool>> ask_driver(std::string key);
  Step authenticate(ssh::Session& session);
  Step probe(ssh::Session& session);
  boost::asio::awaitable<Result<std::string>> choose_prefix(ssh::Session& session);
  Step converse(ssh::Session& session);
  void rotate(ssh::Session& session);
  boost::asio::awaitable<void> propose_rotation(std::shared_ptr<ssh::Session> session);
  boost::asio::awaitable<void> carry_out_rotation(std::shared_ptr<ssh::Session> session,
                                                  model::HostIdentity identity);
  boost::asio::awaitable<void> pause(Duration time);
  void accepted(model::VerifyMethod method, const std::string& key, bool is_next);
  void post(model::HostEventBody body);
  /// "not yet", said only when the text has changed: it is tried often.
  void not_yet(const std::string& step, const std::string& text);

  boost::asio::io_context& io_;
  const std::shared_ptr<const HostSettings> settings_;
  const std::shared_ptr<const HostPorts> ports_;
  model::PoolPolicy pool_;
  const HostSettings::Set& set_;
  model::HostTarget target_;
  Random random_;
  boost::asio::steady_timer timer_;
  bool stopped_ = false;
  bool probed_ = false;                                            ///< The boot probe passed once.
  std::optional<std::chrono::steady_clock::time_point> ready_at_;  ///< Until HostLost.
  unsigned failures_ = 0;
  std::uint64_t connection_ = 0;
  std::string prefix_;        ///< "sudo -n " or nothing.
  std::string said_;          ///< Last "not yet".
  std::string alarming_key_;  ///< Told of since the host was ready last: once is enough.
  std::shared_ptr<ssh::Session> session_;
  std::shared_ptr<Conversation> conversation_;
};

}  // namespace hostler::hosts

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/base/random.h"
#include "core/hosts/boot.h"
#include "core/hosts/conversation.h"
#include "core/hosts/host_context.h"
#include "core/hosts/proof.h"
#include "core/hosts/rotation.h"

namespace hostler::hosts {

/// The link to one host: connects, has the host proved and probed, deploys the agent, runs the
/// conversation with it, and connects again after a pause when the connection has ended. A host
/// without an agent is only asked whether it answers. One connection at a time. Hosts thread only;
/// its own coroutines keep it alive until stop().
class Link : public std::enable_shared_from_this<Link> {
 public:
  Link(boost::asio::io_context& io, std::shared_ptr<const HostSettings> settings,
       std::shared_ptr<const HostPorts> ports, std::shared_ptr<OutputRoom> room,
       std::shared_ptr<JumpHost> jump, model::PoolPolicy pool, model::HostTarget target);

  void start();
  /// Ends the connection. Reports nothing afterwards but refusals of starts that were not sent.
  void stop();
  /// Takes over a new address or identity. A connection to another address is ended.
  void retarget(model::HostTarget target);
  void command(model::HostCommand command);
  [[nodiscard]] const std::string& pool_name() const { return host_->target.pool; }
  /// Checks and `gpu_command` are sent to the agent at once; the rest applies to the next
  /// connection.
  void set_pool(model::PoolPolicy pool);

 private:
  using Step = boost::asio::awaitable<Result<void>>;

  boost::asio::awaitable<void> run();
  Step connect_once();
  boost::asio::awaitable<Result<std::string>> choose_prefix(ssh::Session& session);
  /// Waits until the boot is over, or the session is lost.
  Step await_boot(ssh::Session& session);
  Step converse(ssh::Session& session);
  /// Of a host without an agent: reports that it has booted, and asks it again and again.
  Step keep(ssh::Session& session);
  boost::asio::awaitable<void> run_one(std::shared_ptr<ssh::Session> session,
                                       model::RunCommand command);
  void host_is_ready(std::shared_ptr<ssh::Session> session);
  boost::asio::awaitable<void> pause(Duration time);
  /// Runs a coroutine beside run(); this link lives until it ends.
  void spawn(boost::asio::awaitable<void> coroutine);

  boost::asio::io_context& io_;
  const std::shared_ptr<HostContext> host_;
  HostProof proof_;
  KeyRotation rotation_;
  HostBoot boot_;
  Random random_;
  boost::asio::steady_timer timer_;
  bool verified_ = false;  ///< HostVerified was sent on this connection, and no HostLost yet.
  std::optional<std::chrono::steady_clock::time_point> ready_at_;  ///< Of this connection.
  unsigned failures_ = 0;                                          ///< In a row.
  std::uint64_t connection_ = 0;  ///< Number of the current conversation; rises.
  std::string prefix_;            ///< "sudo -n " or nothing.
  bool has_rights_ = false;       ///< The connection is proved, and `prefix_` is its.
  std::shared_ptr<ssh::Session> session_;
  std::shared_ptr<Conversation> conversation_;
};

}  // namespace hostler::hosts

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/ssh/open.h"
#include "core/ssh/transport.h"

/// Private to core/ssh.
namespace hostler::ssh {

/// Moves bytes between a channel and one end of a pair of sockets, until one of the two ends. Its
/// coroutines keep it alive.
class TunnelPump : public std::enable_shared_from_this<TunnelPump> {
 public:
  TunnelPump(std::shared_ptr<Transport> server, ChannelHandle channel, ByteStream::Socket socket)
      : server_(std::move(server)), channel_(std::move(channel)), socket_(std::move(socket)) {}

  void start();
  /// The other end of the pair is not used any more: what was written there is still sent, if that
  /// needs no wait for the server.
  void abandon();
  [[nodiscard]] const std::string& end_reason() const { return end_reason_; }

 private:
  boost::asio::awaitable<void> to_host();
  boost::asio::awaitable<void> from_host();
  boost::asio::awaitable<bool> send_to_host(std::string_view data);
  boost::asio::awaitable<bool> send_to_socket(std::string_view data);
  boost::asio::awaitable<void> wait_for_socket(ByteStream::Socket::wait_type what);
  void end(std::string reason);

  std::shared_ptr<Transport> server_;
  ChannelHandle channel_;
  ByteStream::Socket socket_;
  std::string end_reason_;
  bool abandoned_ = false;
};

}  // namespace hostler::ssh
